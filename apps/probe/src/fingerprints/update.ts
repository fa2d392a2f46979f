import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FingerprintsError } from "@lanthorn/fingerprints";
import { checkRecogExamples, readRecogFolder } from "@lanthorn/fingerprints/recog";
import { ProbeError } from "../errors.ts";
import type { BundleFiles } from "../bundles/manifest.ts";
import { FINGERPRINTS } from "../bundles/names.ts";
import { readSource } from "./source.ts";
import { openBundleStore } from "../bundles/store.ts";

/** Of its own examples a set of databases answers at least so many right; less means that it is damaged, or written for another matcher. */
const MIN_RIGHT = 0.99;

/** What an update brought. */
export interface UpdateReport {
  /** SHA-256 of the manifest of what holds now. */
  readonly version: string;
  readonly unchanged: boolean;
  readonly files: number;
  readonly fingerprints: number;
  readonly refused: number;
  readonly examples: number;
  readonly right: number;
}

/**
 * Replaces the probe's fingerprint databases. They are checked by their checksums and their own examples before; until then, and whenever
 * anything fails, the ones that are there stay. A running daemon takes the new ones when it next needs one.
 * @throws ProbeError `fingerprints-unavailable`, `fingerprints-refused` or `insecure-url`.
 */
export async function updateFingerprints(options: {
  readonly dataDir: string;
  readonly from: string;
  readonly sha256: string | null;
  readonly fetch: typeof fetch;
}): Promise<UpdateReport> {
  const files = await readSource(options.from, options);
  const report = checkDatabases(files, options.dataDir);
  const store = openBundleStore(options.dataDir, FINGERPRINTS);
  const before = store.versions().current;
  const version = store.install(files);
  return { version, unchanged: version === before, files: files.size, ...report };
}

/** @throws ProbeError `fingerprints-unavailable` where there is no earlier version. @returns What holds now. */
export function rollBackFingerprints(dataDir: string): string {
  const store = openBundleStore(dataDir, FINGERPRINTS);
  if (store.rollback()) return store.versions().current ?? "";
  throw new ProbeError("fingerprints-unavailable", "there is no earlier version");
}

/**
 * Tries databases with their own examples.
 * @throws ProbeError `fingerprints-refused` for what cannot be read, has nothing usable, or answers its examples wrong.
 */
export function checkDatabases(files: BundleFiles, dataDir: string): Omit<UpdateReport, "version" | "unchanged" | "files"> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(dataDir, "fingerprints-check-"));
  try {
    for (const [name, bytes] of files) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
    const reports = readRecogFolder(folder).map(checkRecogExamples);
    const sum = (count: (report: (typeof reports)[number]) => number) => reports.reduce((total, report) => total + count(report), 0);
    const result = {
      fingerprints: sum((report) => report.fingerprints),
      refused: sum((report) => report.refused.length),
      examples: sum((report) => report.examples),
      right: sum((report) => report.right),
    };
    const wrong = reports.flatMap((report) => report.wrong).at(0);
    if (result.fingerprints === 0) throw new ProbeError("fingerprints-refused", "there is no usable fingerprint in the databases");
    if (result.right < result.examples * MIN_RIGHT) {
      const first = wrong ? `; the first is ${wrong.matches}, ${wrong.description.trim()}: ${wrong.reason}` : "";
      throw new ProbeError(
        "fingerprints-refused", `${result.examples - result.right} of ${result.examples} examples give wrong answers${first}`,
      );
    }
    return result;
  } catch (error) {
    if (error instanceof FingerprintsError) {
      throw new ProbeError("fingerprints-refused", error.message.replaceAll(`${folder}/`, ""), { cause: error.cause });
    }
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
