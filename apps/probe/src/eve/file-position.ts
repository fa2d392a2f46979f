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

/** So many octets before a position tell whether it is still one of the file. */
export const MARK_BYTES = 256;

/** @param before What lies before it in the file: `bytesBefore`. @throws As `FileHandle.stat` does. */
export async function positionAt(file: FileHandle, offset: number, before: Uint8Array): Promise<FilePosition> {
  const { dev, ino } = await file.stat({ bigint: true });
  return { device: String(dev), inode: String(ino), offset, mark: markOf(before) };
}

/** Another position of the same file. @param before What was read before it: the file may hold something else there by now. */
export function moveTo({ device, inode }: FilePosition, offset: number, before: Uint8Array): FilePosition {
  return { device, inode, offset, mark: markOf(before) };
}

/** @returns Up to `MARK_BYTES`. @throws As `FileHandle.read` does. */
export async function bytesBefore(file: FileHandle, offset: number): Promise<Buffer> {
  const length = Math.min(offset, MARK_BYTES);
  const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset - length });
  return buffer.subarray(0, bytesRead);
}

/** Whether the position is one of this file as it is now. @throws As `FileHandle.read` and `stat` do. */
export async function holdsPosition(file: FileHandle, { device, inode, offset, mark }: FilePosition): Promise<boolean> {
  const { dev, ino, size } = await file.stat({ bigint: true });
  return String(dev) === device && String(ino) === inode && size >= BigInt(offset) && mark === markOf(await bytesBefore(file, offset));
}

function markOf(before: Uint8Array): string {
  return createHash("sha256").update(before.subarray(-MARK_BYTES)).digest("hex");
}
