/** What is learned, on the disk: one file of entries, written anew as a whole. */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { SavedEntry } from "@lanthorn/anomaly";
import { nextTurn } from "@lanthorn/runtime";

const MAGIC = Buffer.from("lanthorn behavior 1\n");
/** Before each entry: lengths of kind, key and bytes. The last one has no kind, and the number of entries as its third. */
const HEAD_BYTES = 7;
const ENTRIES_AT_ONCE = 32;
/** 10,000 devices and as many as there may be groups. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/**
 * Gives each entry of a file to `restore`, some in each turn of the event loop.
 * @returns `damaged` where the file is not whole: what could be read was given all the same, and the file is set aside under its name with `.damaged`.
 * @throws NodeJS.ErrnoException as the file system says.
 */
export async function readStateFile(path: string, restore: (entry: SavedEntry) => boolean): Promise<"none" | "read" | "damaged"> {
  let file: Buffer;
  try {
    file = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw error;
  }
  if (await restoreAll(file, restore)) return "read";
  await rename(path, `${path}.damaged`);
  return "damaged";
}

/** @returns Whether all of it could be read. */
async function restoreAll(file: Buffer, restore: (entry: SavedEntry) => boolean): Promise<boolean> {
  if (file.length > MAX_FILE_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return false;
  let offset = MAGIC.length;
  let isWhole = true;
  for (let entries = 0; ; entries += 1) {
    if (offset + HEAD_BYTES > file.length) return false;
    const [kindLength, keyLength, length] = [file.readUInt8(offset), file.readUInt16LE(offset + 1), file.readUInt32LE(offset + 3)];
    offset += HEAD_BYTES;
    if (kindLength === 0) return isWhole && length === entries && offset === file.length;
    const [key, bytes, end] = [offset + kindLength, offset + kindLength + keyLength, offset + kindLength + keyLength + length];
    if (end > file.length) return false;
    if (!restore({ kind: file.toString("utf8", offset, key), key: file.toString("utf8", key, bytes), bytes: file.subarray(bytes, end) })) isWhole = false;
    offset = end;
    if (entries % ENTRIES_AT_ONCE === 0) await nextTurn();
  }
}

/** Replaces the file, some entries in each turn of the event loop. Whatever crashes leaves the old one or the new one. */
export async function writeStateFile(path: string, entries: Iterable<SavedEntry>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", 0o600);
  try {
    let pieces: Uint8Array[] = [MAGIC];
    let count = 0;
    for (const entry of entries) {
      pieces.push(...encode(entry));
      count += 1;
      if (count % ENTRIES_AT_ONCE !== 0) continue;
      await file.write(Buffer.concat(pieces));
      pieces = [];
    }
    await file.write(Buffer.concat([...pieces, head(0, 0, count)]));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

function encode({ kind, key, bytes }: SavedEntry): readonly Uint8Array[] {
  const [kindBytes, keyBytes] = [Buffer.from(kind), Buffer.from(key)];
  return [head(kindBytes.length, keyBytes.length, bytes.length), kindBytes, keyBytes, bytes];
}

function head(kind: number, key: number, bytes: number): Uint8Array {
  const made = Buffer.alloc(HEAD_BYTES);
  made.writeUInt8(kind, 0);
  made.writeUInt16LE(key, 1);
  made.writeUInt32LE(bytes, 3);
  return made;
}
