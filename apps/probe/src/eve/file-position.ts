/** How far a file was read, and how it is known again. */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import * as z from "zod";

/** A place in a file. */
export const FilePosition = z.strictObject({
  device: z.string().max(32),
  inode: z.string().max(32),
  /** Behind the last whole line that was read. */
  offset: z.int().min(0),
  /** SHA-256 of up to `MARK_BYTES` before the offset, in hex: a file that was emptied and written anew has others there. */
  mark: z.string().max(64),
});
export type FilePosition = z.infer<typeof FilePosition>;

const MARK_BYTES = 256;

/** @throws As `FileHandle.read` and `stat` do. */
export async function positionAt(file: FileHandle, offset: number): Promise<FilePosition> {
  const { dev, ino } = await file.stat({ bigint: true });
  return { device: String(dev), inode: String(ino), offset, mark: await markBefore(file, offset) };
}

/** Whether the position is one of this file as it is now. @throws As `FileHandle.read` and `stat` do. */
export async function holdsPosition(file: FileHandle, { device, inode, offset, mark }: FilePosition): Promise<boolean> {
  const { dev, ino, size } = await file.stat({ bigint: true });
  return String(dev) === device && String(ino) === inode && size >= BigInt(offset) && mark === await markBefore(file, offset);
}

async function markBefore(file: FileHandle, offset: number): Promise<string> {
  const length = Math.min(offset, MARK_BYTES);
  const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset - length });
  return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex");
}
