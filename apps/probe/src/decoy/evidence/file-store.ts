/** Files that were sent to decoys: kept by their hash, within a quota, and never executed. */
import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A file that came. */
export interface KeptFile {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly octets: number;
  /** Whether it is on the disk; beyond the quota only its hash is known. */
  readonly isKept: boolean;
}

/** A file that is coming. */
export interface ComingFile {
  /** Copies them. @returns False where it would be too long; it is not added then. */
  add(bytes: Uint8Array): boolean;
  /** @returns Null where nothing came. */
  end(): KeptFile | null;
}

/** Takes files. */
export interface FileKeeper {
  /** To be called when there is something of it. @returns Null where too many are coming at this time, of all or of this source. */
  begin(source: string): ComingFile | null;
}

/** Of one file: tools and scripts are smaller. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Of those that are coming: they are in memory. */
const MAX_COMING_BYTES = 4 * 1024 * 1024;
const MAX_COMING = 64;
/** What a coming file takes at first. */
const LEAST_BYTES = 1024;
const MAX_COMING_OF_SOURCE = 8;
/** On the disk. The first are kept: a flood does not push them out. */
const QUOTA_BYTES = 64 * 1024 * 1024;
const QUOTA_FILES = 1024;

/** @param folder Made at the first file, with one beside it, ending in `.new`, for what is being written. Only its owner may read them. @param onFailure A file could not be written; it is not kept, whatever was said of it. */
export function createFileStore(folder: string, onFailure: (error: unknown) => void): FileKeeper {
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const kept = new Map(listFiles(folder));
  const coming = new Set<{ readonly source: string }>();
  let [keptBytes, comingBytes] = [[...kept.values()].reduce((sum, octets) => sum + octets, 0), 0];
  let made: Promise<unknown> | null = null;
  const keep = (sha256: string, bytes: Buffer): boolean => {
    if (kept.has(sha256)) return true;
    if (kept.size >= QUOTA_FILES || keptBytes + bytes.length > QUOTA_BYTES) return false;
    kept.set(sha256, bytes.length);
    keptBytes += bytes.length;
    made ??= Promise.all([folder, unfinished].map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
    made.then(() => writeWhole(bytes, join(unfinished, sha256), join(folder, sha256))).catch((error: unknown) => {
      made = null;
      kept.delete(sha256);
      keptBytes -= bytes.length;
      onFailure(error);
    });
    return true;
  };
  return {
    begin(source) {
      if (coming.size >= MAX_COMING || [...coming].filter((one) => one.source === source).length >= MAX_COMING_OF_SOURCE) return null;
      const slot = { source };
      coming.add(slot);
      let [held, octets, isOver] = [Buffer.alloc(0), 0, false];
      /** Grows in doubles, so that many small pieces cost no more than a large one. @returns False where all files together have no room. */
      const makeRoom = (most: number): boolean => {
        if (most <= held.length) return true;
        const size = Math.min(MAX_FILE_BYTES, Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(most))));
        if (comingBytes - held.length + size > MAX_COMING_BYTES) return false;
        comingBytes += size - held.length;
        const grown = Buffer.alloc(size);
        held.copy(grown, 0, 0, octets);
        held = grown;
        return true;
      };
      return {
        add(bytes) {
          if (isOver || octets + bytes.length > MAX_FILE_BYTES || !makeRoom(octets + bytes.length)) return false;
          held.set(bytes, octets);
          octets += bytes.length;
          return true;
        },
        end() {
          if (isOver) return null;
          isOver = true;
          coming.delete(slot);
          comingBytes -= held.length;
          const bytes = held.subarray(0, octets);
          held = Buffer.alloc(0);
          if (octets === 0) return null;
          const sha256 = createHash("sha256").update(bytes).digest("hex");
          return { sha256, octets, isKept: keep(sha256, bytes) };
        },
      };
    },
  };
}

/** Nobody finds half of it, whatever crashes. */
async function writeWhole(bytes: Buffer, unfinished: string, path: string): Promise<void> {
  await rm(unfinished, { force: true });
  await writeFile(unfinished, bytes, { mode: 0o400, flag: "wx" });
  await rename(unfinished, path);
}

function listFiles(folder: string): readonly (readonly [string, number])[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name)).map((name) => [name, statSync(join(folder, name)).size] as const);
  } catch {
    return [];
  }
}
