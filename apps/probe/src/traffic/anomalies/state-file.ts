/** What is learned, on the disk: one file of entries, written anew as a whole. */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { SavedEntry } from "@lanthorn/anomaly";
import { nextTurn } from "@lanthorn/runtime";

const NAME = "lanthorn behavior ";
const MAGIC = Buffer.from(`${NAME}1\n`);
/** Before each entry: lengths of kind, key and bytes. The last one has no kind, and the number of entries as its third. */
const HEAD_BYTES = 7;
/** Of a turn of the event loop: some five devices, or five hundred of the smallest entries: less than a millisecond of work. */
const BYTES_AT_ONCE = 64 * 1024;
/** 10,000 devices and as many as there may be groups. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/**
 * Gives each entry of a file to `restore`, some in each turn of the event loop.
 * @returns `damaged` where the file is not whole, `unread` where it is and some of it could not be read. What could be read was given all the same.
 * @throws NodeJS.ErrnoException as the file system says.
 */
export async function readStateFile(path: string, restore: (entry: SavedEntry) => boolean): Promise<"none" | "read" | "unread" | "damaged"> {
  let file: Buffer;
  try {
    file = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw error;
  }
  return restoreAll(file, restore);
}

/** Puts the file where another does not replace it. @returns Its new path. @throws NodeJS.ErrnoException as the file system says. */
export async function setStateFileAside(path: string, why: "damaged" | "other-version"): Promise<string> {
  const aside = `${path}.${why}`;
  await rename(path, aside);
  return aside;
}

async function restoreAll(file: Buffer, restore: (entry: SavedEntry) => boolean): Promise<"read" | "unread" | "damaged"> {
  if (file.length > MAX_FILE_BYTES || file.toString("latin1", 0, NAME.length) !== NAME) return "damaged";
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) return "unread";
  let [offset, turnAt] = [MAGIC.length, 0];
  let isRead = true;
  for (let entries = 0; ; entries += 1) {
    if (offset + HEAD_BYTES > file.length) return "damaged";
    const [kindLength, keyLength, length] = [file.readUInt8(offset), file.readUInt16LE(offset + 1), file.readUInt32LE(offset + 3)];
    offset += HEAD_BYTES;
    if (kindLength === 0) return length !== entries || offset !== file.length ? "damaged" : isRead ? "read" : "unread";
    const [key, bytes, end] = [offset + kindLength, offset + kindLength + keyLength, offset + kindLength + keyLength + length];
    if (end > file.length) return "damaged";
    if (!restore({ kind: file.toString("utf8", offset, key), key: file.toString("utf8", key, bytes), bytes: file.subarray(bytes, end) })) isRead = false;
    offset = end;
    if (offset - turnAt < BYTES_AT_ONCE) continue;
    turnAt = offset;
    await nextTurn();
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
    let [count, bytes] = [0, 0];
    for (const entry of entries) {
      pieces.push(...encode(entry));
      count += 1;
      bytes += entry.bytes.length + entry.key.length;
      if (bytes < BYTES_AT_ONCE) continue;
      await file.write(Buffer.concat(pieces));
      [pieces, bytes] = [[], 0];
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
