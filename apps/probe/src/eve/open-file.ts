/** Which file is to be read, and from where. */
import type { BigIntStats } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bytesBefore, type FilePosition, holdsPosition, MARK_BYTES, moveTo, positionAt } from "./file-position.ts";

/** A file that is read. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Behind what was read, with the beginning of a line whose end has not come. */
  offset: number;
  position: FilePosition;
  /** Up to `MARK_BYTES` of what was read before `offset`. */
  recent: Buffer;
  /** It begins in the middle of a line that is of no use. */
  readonly isInside: boolean;
  /** So many looks in a row it has not grown. */
  quietLooks: number;
}

/** Files beside it that are looked at for the one that was renamed while nobody looked. */
const MAX_NEIGHBORS = 256;
const LINE_FEED = 0x0a;

/** @throws As `FileHandle.read` and `stat` do; the handle is then closed. */
export async function openAt(handle: FileHandle, offset: number, isInside = false): Promise<OpenFile> {
  try {
    const recent = await bytesBefore(handle, offset);
    return { handle, offset, isInside, quietLooks: 0, recent, position: await positionAt(handle, offset, recent) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Moves on behind what was read.
 * @param pending So many octets at its end are the beginning of a line.
 */
export function moveOn(file: OpenFile, read: Uint8Array, pending: number): void {
  const known = Buffer.concat([file.recent, read]);
  file.offset += read.length;
  // A line that is longer than this piece began before it: its beginning is the position already.
  if (pending <= read.length) file.position = moveTo(file.position, file.offset - pending, known.subarray(0, known.length - pending));
  file.recent = Buffer.from(known.subarray(-MARK_BYTES));
}

/** The file was emptied: it is read from its beginning. */
export function moveToBegin(file: OpenFile): void {
  [file.offset, file.recent] = [0, Buffer.alloc(0)];
  file.position = moveTo(file.position, 0, file.recent);
}

/** Opens it behind what it holds: that is old. @throws As `open`. */
export async function openAtEnd(path: string): Promise<OpenFile> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    return await openAt(handle, size, size > 0 && buffer[0] !== LINE_FEED);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens it where an earlier run was, or from its beginning where it is another file by now. @throws As `open`. */
export async function openFrom(path: string, last: FilePosition | null): Promise<OpenFile> {
  const handle = await open(path, "r");
  try {
    return await openAt(handle, last !== null && await holdsPosition(handle, last) ? last.offset : 0);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens what was renamed before all of it was read, and lies beside it. @returns Null where it is not there. */
export async function openRenamed(path: string, last: FilePosition): Promise<OpenFile | null> {
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path)) && name !== basename(path));
  for (const name of names.slice(0, MAX_NEIGHBORS)) {
    const candidate = join(dirname(path), name);
    if (!isFile(await statOrNull(candidate), last)) continue;
    const handle = await open(candidate, "r");
    if (await holdsPosition(handle, last)) return openAt(handle, last.offset);
    await handle.close();
  }
  return null;
}

/** Whether what has the name is the file of a position. */
export function isFile(facts: BigIntStats | null, { device, inode }: Pick<FilePosition, "device" | "inode">): boolean {
  return facts !== null && String(facts.dev) === device && String(facts.ino) === inode;
}

/** @returns Null where there is no such file. */
export async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
