import { gunzipSync } from "node:zlib";
import { FileRefused } from "../../../sources/file-refused.ts";

/** A file of an archive. */
export interface PublishedFile {
  /** Without its folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Bounds of what is published. */
export interface ArchiveLimits {
  readonly maxUnpackedBytes: number;
  readonly maxFiles: number;
}

const BLOCK = 512;
const [FILE, OLD_FILE, FOLDER, GLOBAL_HEAD, HEAD] = ["0", "\0", "5", "g", "x"];
/** pax heads that change the name or size of the next file: nobody packs rules so, and what a reader makes of them differs. */
const RENAMING = /(?:^|\n)\d+ (?:path|size|linkpath)=/;

/**
 * The files of what was published: a tar archive packed by gzip, or one file, packed or not. Everything but plain files and folders, and
 * every name that leads elsewhere, refuses the whole.
 * @param name Of what was published; that of a single file is kept.
 * @throws FileRefused
 * @see IEEE Std 1003.1 pax, "ustar Interchange Format"
 */
export function unpackRules(bytes: Uint8Array, name: string, limits: ArchiveLimits): readonly PublishedFile[] {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = isPacked ? unpack(bytes, limits) : bytes;
  if (plain.length > limits.maxUnpackedBytes) throw new FileRefused("it is too large");
  return isTar(plain) ? readArchive(plain, limits) : [{ name: baseName(name).replace(/\.gz$/, ""), bytes: plain }];
}

function unpack(bytes: Uint8Array, { maxUnpackedBytes }: ArchiveLimits): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes });
  } catch (cause) {
    const isLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new FileRefused(isLarge ? `it has more than ${Math.round(maxUnpackedBytes / 1e6)} MB unpacked` : "it cannot be unpacked", { cause });
  }
}

function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= BLOCK && latin1(bytes, 257, 262) === "ustar";
}

function readArchive(bytes: Uint8Array, { maxFiles }: ArchiveLimits): readonly PublishedFile[] {
  const files: PublishedFile[] = [];
  for (let at = 0, entries = 0; at + BLOCK <= bytes.length; entries += 1) {
    const head = bytes.subarray(at, at + BLOCK);
    if (head.every((byte) => byte === 0)) break;
    if (entries >= maxFiles * 2) throw new FileRefused(`its archive has more than ${maxFiles * 2} entries`);
    const { path, size, type } = readHead(head);
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) throw new FileRefused("its archive ends in the middle of a file");
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === FOLDER || type === GLOBAL_HEAD) continue;
    if (type === HEAD) {
      if (RENAMING.test(latin1(content, 0, Math.min(content.length, 65_536)))) throw new FileRefused("its archive renames files by extended heads");
      continue;
    }
    if (type !== FILE && type !== OLD_FILE) throw new FileRefused(`its archive holds what is no plain file: ${path}`);
    files.push({ name: baseName(path), bytes: content });
    if (files.length > maxFiles) throw new FileRefused(`its archive has more than ${maxFiles} files`);
  }
  return files;
}

function readHead(head: Uint8Array): { readonly path: string; readonly size: number; readonly type: string } {
  const sum = head.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (Number.parseInt(text(head, 148, 156), 8) !== sum) throw new FileRefused("its archive is damaged");
  const size = Number.parseInt(text(head, 124, 136).trim() || "0", 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new FileRefused("a file in its archive has no size");
  const prefix = text(head, 345, 500);
  const path = prefix === "" ? text(head, 0, 100) : `${prefix}/${text(head, 0, 100)}`;
  if (path.startsWith("/") || path.includes("\\") || path.split("/").includes("..")) throw new FileRefused(`its archive names a file outside of it: ${path.slice(0, 100)}`);
  return { path, size, type: latin1(head, 156, 157) };
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return latin1(bytes, start, end).split("\0")[0] ?? "";
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, Math.min(end, bytes.length) - start)).toString("latin1");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
