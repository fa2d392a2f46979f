import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTextFile } from "@lanthorn/runtime";
import { writeFileAtomically } from "../atomic-file.ts";
import { digestOf } from "./digest.ts";
import { type BundleFiles, findDifference, MANIFEST, parseManifest, sha256, writeManifest } from "./manifest.ts";

/** Which versions the probe holds: each is called by its manifest's SHA-256. */
export interface Versions {
  readonly current: string | null;
  /** What `rollback` goes back to. */
  readonly previous: string | null;
}

/** What the probe has had of a collector's versions, by the numbers under which they were published. */
export interface BundleRecord {
  /** The highest number that was installed here; 0 before any. It never falls. */
  readonly published: number;
  /** The current version's; 0 for one that is not a collector's, and where there is none. */
  readonly currentNumber: number;
  /** A version that was taken back because what uses it failed with it; null where none was since the last one came. */
  readonly rejected: { readonly number: number; readonly reason: string } | null;
}

/**
 * Versions of a bundle in `<data_dir>/<name>`: a folder for each, and a file that says which one is current. A version is never changed, and
 * becomes current only once it is whole on the disk.
 */
export interface BundleStore {
  versions(): Versions;
  record(): BundleRecord;
  /** Whether the current version is as it was installed. Reads all of it, without holding up the event loop. */
  isCurrentWhole(): Promise<boolean>;
  /** As `wholeFolder`, without holding up the event loop. */
  findWholeFolder(): Promise<string | null>;
  /** Where files of the current and previous version should be, by their SHA-256. They may be damaged. */
  paths(): ReadonlyMap<string, string>;
  /**
   * Makes the files the current version, and the current one the previous.
   * @param published The number under which a collector has published them.
   * @returns The version's name.
   */
  install(files: BundleFiles, published?: number): string;
  /** Swaps current and previous. @returns False where there is no previous one. */
  rollback(): boolean;
  /** Takes the current version back: the previous one is current then, or none. @param reason What failed with it. */
  reject(reason: string): void;
  /**
   * @returns The folder of the current version; of the previous one where the current is damaged; null where there is none that is whole.
   */
  wholeFolder(): string | null;
  /** The files of a version's folder, by path. */
  filesOf(folder: string): readonly string[];
}

/** What the file beside the versions says. */
interface Pointer extends Versions, BundleRecord {
  readonly previousNumber: number;
}

/** @param name The bundle's, which is its folder's. */
export function openBundleStore(dataDir: string, name: string): BundleStore {
  const home = join(dataDir, name);
  const folderOf = (version: string) => join(home, version);
  const read = () => parsePointer(readTextFile(join(home, "versions")) ?? "");
  const folders = () => {
    const { current, previous } = read();
    return [current, previous].filter((version) => version !== null).map(folderOf);
  };
  const point = (next: Pointer): void => {
    mkdirSync(home, { recursive: true, mode: 0o755 });
    writeFileAtomically(join(home, "versions"), writePointer(next), { mode: 0o644, durable: true });
    for (const entry of readdirSync(home)) {
      if (/^[0-9a-f]{64}(\.new)?$/.test(entry) && entry !== next.current && entry !== next.previous) rmSync(folderOf(entry), { recursive: true });
    }
  };
  return {
    versions: read,
    record: read,
    async isCurrentWhole() {
      const { current } = read();
      return current !== null && await hasItsFiles(folderOf(current));
    },
    async findWholeFolder() {
      for (const folder of folders()) if (await hasItsFiles(folder)) return folder;
      return null;
    },
    paths: () => new Map(folders().toReversed().flatMap((folder) => [...readSums(folder) ?? []].map(([file, sum]) => [sum, join(folder, file)] as const))),
    install(files, number = 0) {
      const manifest = writeManifest(files);
      const version = sha256(manifest);
      const before = read();
      if (!isWhole(folderOf(version))) {
        const unfinished = `${folderOf(version)}.new`;
        rmSync(unfinished, { recursive: true, force: true });
        for (const [file, bytes] of files) writeUnder(unfinished, file, bytes);
        writeUnder(unfinished, MANIFEST, Buffer.from(manifest));
        rmSync(folderOf(version), { recursive: true, force: true });
        renameSync(unfinished, folderOf(version));
      }
      const { previous, previousNumber } = before.current === version ? before : { previous: before.current, previousNumber: before.currentNumber };
      point({
        current: version, currentNumber: number, previous, previousNumber, published: Math.max(number, before.published), rejected: null,
      });
      return version;
    },
    rollback() {
      const { current, previous, currentNumber, previousNumber, published } = read();
      if (previous === null || !isWhole(folderOf(previous))) return false;
      point({ current: previous, currentNumber: previousNumber, previous: current, previousNumber: currentNumber, published, rejected: null });
      return true;
    },
    reject(reason) {
      const { current, previous, currentNumber, previousNumber, published } = read();
      if (current === null) return;
      const isBack = previous !== null && isWhole(folderOf(previous));
      point({
        current: isBack ? previous : null, currentNumber: isBack ? previousNumber : 0, previous: null, previousNumber: 0, published,
        rejected: { number: currentNumber, reason: reason.replaceAll(/\s+/g, " ") },
      });
    },
    wholeFolder: () => folders().find(isWhole) ?? null,
    filesOf: (folder) => [...readSums(folder)?.keys() ?? []],
  };
}

function parsePointer(text: string): Pointer {
  const [current = null, previous = null] = text.split("\n").filter((line) => /^[0-9a-f]{64}$/.test(line));
  const [, currentNumber = 0, previousNumber = 0] = /^numbers (\d{1,10}) (\d{1,10})$/m.exec(text) ?? [];
  const [, number, reason = ""] = /^rejected (\d{1,10}) (.*)$/m.exec(text) ?? [];
  return {
    current, previous, currentNumber: Number(currentNumber), previousNumber: Number(previousNumber),
    published: Number(/^published (\d{1,10})$/m.exec(text)?.[1] ?? 0),
    rejected: number === undefined ? null : { number: Number(number), reason },
  };
}

/** The names come first and alone on their lines, as in files of older probes. */
function writePointer({ current, previous, currentNumber, previousNumber, published, rejected }: Pointer): string {
  return [
    ...[current, previous].filter((version) => version !== null),
    ...(published > 0 ? [`published ${published}`, `numbers ${currentNumber} ${previousNumber}`] : []),
    ...(rejected ? [`rejected ${rejected.number} ${rejected.reason}`] : []),
  ].map((line) => `${line}\n`).join("");
}

function writeUnder(folder: string, name: string, bytes: Buffer): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, bytes, { mode: 0o644, flush: true });
}

/** A version's files by name with their SHA-256; null where the manifest is not the one that the version is called by. */
function readSums(folder: string): ReadonlyMap<string, string> | null {
  const manifest = readTextFile(join(folder, MANIFEST));
  const sums = manifest !== null && folder.endsWith(sha256(manifest)) ? parseManifest(manifest) : null;
  return typeof sums === "string" ? null : sums;
}

/** As `isWhole`, a piece of a file at a time. */
async function hasItsFiles(folder: string): Promise<boolean> {
  const sums = readSums(folder);
  for (const [file, sum] of sums ?? []) if (await digestOf(join(folder, file)) !== sum) return false;
  return sums !== null;
}

function isWhole(folder: string): boolean {
  const sums = readSums(folder);
  if (!sums) return false;
  try {
    return findDifference(new Map([...sums.keys()].map((name) => [name, readFileSync(join(folder, name))])), sums) === null;
  } catch {
    return false;
  }
}
