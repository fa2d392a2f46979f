import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTextFile } from "@lanthorn/runtime";
import { writeFileAtomically } from "../atomic-file.ts";
import { type DatabaseFiles, findDifference, MANIFEST, parseManifest, sha256, writeManifest } from "./manifest.ts";

/** Which versions the probe holds: each is called by its manifest's SHA-256. */
export interface Versions {
  readonly current: string | null;
  /** What `rollback` goes back to. */
  readonly previous: string | null;
}

/**
 * Databases in `<data_dir>/fingerprints`: a folder for each version, and a file that says which one holds. A version is never changed, and
 * holds only once it is whole on the disk.
 */
export interface FingerprintStore {
  versions(): Versions;
  /** Makes the files the current version, and the current one the previous. @returns The version's name. */
  install(files: DatabaseFiles): string;
  /** Swaps current and previous. @returns False where there is no previous one. */
  rollback(): boolean;
  /**
   * @returns The folder of the current version; of the previous one where the current is damaged; null where there is none that is whole.
   */
  wholeFolder(): string | null;
}

export function openFingerprintStore(dataDir: string): FingerprintStore {
  const home = join(dataDir, "fingerprints");
  const pointer = join(home, "versions");
  const folderOf = (version: string) => join(home, version);
  const versions = (): Versions => {
    const [current = null, previous = null] = (readTextFile(pointer) ?? "").split("\n").filter((line) => /^[0-9a-f]{64}$/.test(line));
    return { current, previous };
  };
  const point = (next: Versions): void => {
    const text = [next.current, next.previous].filter((version) => version !== null).map((version) => `${version}\n`).join("");
    writeFileAtomically(pointer, text, { mode: 0o644, durable: true });
    for (const entry of existsSync(home) ? readdirSync(home) : []) {
      if (/^[0-9a-f]{64}(\.new)?$/.test(entry) && entry !== next.current && entry !== next.previous) {
        rmSync(folderOf(entry), { recursive: true });
      }
    }
  };
  return {
    versions,
    install(files) {
      const manifest = writeManifest(files);
      const version = sha256(manifest);
      const { current, previous } = versions();
      if (!isWhole(folderOf(version))) {
        const unfinished = `${folderOf(version)}.new`;
        rmSync(unfinished, { recursive: true, force: true });
        for (const [name, bytes] of files) writeUnder(unfinished, name, bytes);
        writeUnder(unfinished, MANIFEST, Buffer.from(manifest));
        rmSync(folderOf(version), { recursive: true, force: true });
        renameSync(unfinished, folderOf(version));
      }
      point({ current: version, previous: current === version ? previous : current });
      return version;
    },
    rollback() {
      const { current, previous } = versions();
      if (previous === null || !isWhole(folderOf(previous))) return false;
      point({ current: previous, previous: current });
      return true;
    },
    wholeFolder() {
      const { current, previous } = versions();
      return [current, previous].filter((version) => version !== null).map(folderOf).find(isWhole) ?? null;
    },
  };
}

function writeUnder(folder: string, name: string, bytes: Buffer): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, bytes, { mode: 0o644, flush: true });
}

/** A version is whole when its manifest is the one that it is called by, and every file is as the manifest says. */
function isWhole(folder: string): boolean {
  try {
    const manifest = readFileSync(join(folder, MANIFEST), "utf8");
    const sums = parseManifest(manifest);
    if (typeof sums === "string" || !folder.endsWith(sha256(manifest))) return false;
    return findDifference(new Map([...sums.keys()].map((name) => [name, readFileSync(join(folder, name))])), sums) === null;
  } catch {
    return false;
  }
}
