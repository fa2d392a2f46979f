import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";
import { createInflateRaw } from "node:zlib";
import type { FeedDefinition, FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";

/** What the directory of a ZIP archive says of it. */
interface ZipDirectory {
  /** Files whose names end as the feed's records do. */
  readonly records: number;
  /** Where it is the only file: an archive in an archive. */
  readonly inner: { readonly offset: number; readonly packedBytes: number; readonly method: number } | null;
}

type Limits = Pick<FeedDefinition, "maxUnpackedBytes" | "maxRatio" | "mark">;

const END = 0x06_05_4b_50;
const END_64 = 0x06_06_4b_50;
const LOCATOR_64 = 0x07_06_4b_50;
const ENTRY = 0x02_01_4b_50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
/** The CVE list has 300,000 files, with 150 bytes each in the directory. */
const MAX_DIRECTORY_BYTES = 256_000_000;
const IN_64 = 0xff_ff_ff_ff;
const STORED = 0;
const DEFLATED = 8;

/**
 * Reads an archive's directory: counts its records, and adds up what it unpacks to. Nothing is unpacked.
 * @throws FeedFailure `malformed` and `truncated` for what is no whole archive, `bomb` and `too-large` beyond the feed's limits.
 * @see APPNOTE.TXT 6.3.10 sections 4.3.12 to 4.3.16
 */
export async function readZipDirectory(file: Pick<FeedFile, "path" | "bytes">, limits: Limits): Promise<ZipDirectory> {
  const handle = await open(file.path, "r");
  try {
    const { offset, bytes } = await locate(handle, file.bytes);
    if (bytes > MAX_DIRECTORY_BYTES || offset + bytes > file.bytes) throw damaged();
    return await readEntries(handle, { offset, bytes, fileBytes: file.bytes }, limits);
  } finally {
    await handle.close();
  }
}

/** @returns The archive in it, unpacked beside it in its place, or the file itself where it holds none. @throws FeedFailure */
export async function unwrapZip(file: FeedFile, limits: Limits): Promise<FeedFile> {
  const { inner } = await readZipDirectory(file, limits);
  if (inner === null) return file;
  const start = await contentOf(file.path, inner.offset);
  const place = `${file.path}.inner`;
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done(bytes > limits.maxUnpackedBytes ? new FeedFailure("too-large", "unpacked it is larger than it may be") : null, chunk);
    },
  });
  const source = createReadStream(file.path, { start, end: start + inner.packedBytes - 1 });
  try {
    if (inner.method === STORED) await pipeline(source, limit, createWriteStream(place, { flush: true }));
    else await pipeline(source, createInflateRaw(), limit, createWriteStream(place, { flush: true }));
  } catch (error) {
    await rm(place, { force: true });
    throw error instanceof FeedFailure || (error as NodeJS.ErrnoException).syscall !== undefined ? error : damaged(error);
  }
  await rename(place, file.path);
  return { ...file, bytes };
}

/** Where an entry's content begins, behind its own header. @see APPNOTE.TXT section 4.3.7 */
async function contentOf(path: string, offset: number): Promise<number> {
  const handle = await open(path, "r");
  try {
    const header = await read(handle, offset, 30);
    return offset + header.length + header.readUInt16LE(26) + header.readUInt16LE(28);
  } finally {
    await handle.close();
  }
}

async function locate(handle: FileHandle, size: number): Promise<{ readonly offset: number; readonly bytes: number }> {
  const length = Math.min(size, END_BYTES + MAX_COMMENT);
  const tail = await read(handle, size - length, length);
  let at = tail.length - END_BYTES;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1;
  if (at < 0) throw new FeedFailure("truncated", "it is no whole ZIP archive");
  const found = { bytes: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) };
  if (found.offset !== IN_64 && found.bytes !== IN_64 && tail.readUInt16LE(at + 10) !== 0xff_ff) return found;
  if (at < 20 || tail.readUInt32LE(at - 20) !== LOCATOR_64) return found;
  const end = await read(handle, Number(tail.readBigUInt64LE(at - 12)), 56);
  if (end.readUInt32LE(0) !== END_64) throw damaged();
  return { bytes: Number(end.readBigUInt64LE(40)), offset: Number(end.readBigUInt64LE(48)) };
}

async function readEntries(
  handle: FileHandle, { offset, bytes, fileBytes }: { readonly offset: number; readonly bytes: number; readonly fileBytes: number },
  { maxUnpackedBytes, maxRatio, mark }: Limits,
): Promise<ZipDirectory> {
  let [records, entries, unpacked, position, left] = [0, 0, 0, offset, bytes];
  let rest = Buffer.alloc(0);
  let only: ZipDirectory["inner"] = null;
  while (left > 0) {
    const piece = await read(handle, position, Math.min(left, 262_144));
    position += piece.length;
    left -= piece.length;
    rest = Buffer.concat([rest, piece]);
    let at = 0;
    for (let size = entrySize(rest, at); size !== null && at + size <= rest.length; size = entrySize(rest, at)) {
      const name = rest.toString("latin1", at + 46, at + 46 + rest.readUInt16LE(at + 28));
      const sizes = sizesOf(rest.subarray(at, at + size));
      entries += 1;
      unpacked += sizes.unpacked;
      if (unpacked > maxUnpackedBytes) throw new FeedFailure("too-large", "unpacked it is larger than it may be");
      if (unpacked > Math.max(1e6, fileBytes * maxRatio)) throw new FeedFailure("bomb", `it unpacks to more than ${maxRatio} times its size`);
      if (name.endsWith(mark.record)) records += 1;
      only = name.endsWith(".zip") ? { offset: sizes.offset, packedBytes: sizes.packed, method: rest.readUInt16LE(at + 10) } : null;
      at += size;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0 || entries === 0) throw damaged();
  const isInner = entries === 1 && only !== null && (only.method === STORED || only.method === DEFLATED);
  return { records, inner: isInner ? only : null };
}

/** @returns Null where more bytes are needed. */
function entrySize(bytes: Buffer, at: number): number | null {
  if (bytes.length - at < 46) return null;
  if (bytes.readUInt32LE(at) !== ENTRY) throw damaged();
  return 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
}

/** Of one entry, also those that its ZIP64 field has. @see APPNOTE.TXT section 4.5.3 */
function sizesOf(entry: Buffer): { readonly packed: number; readonly unpacked: number; readonly offset: number } {
  const sizes = { packed: entry.readUInt32LE(20), unpacked: entry.readUInt32LE(24), offset: entry.readUInt32LE(42) };
  const extraAt = 46 + entry.readUInt16LE(28);
  const extra = entry.subarray(extraAt, extraAt + entry.readUInt16LE(30));
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const values = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    let next = 0;
    const take = (value: number) => {
      if (value !== IN_64 || next + 8 > values.length) return value;
      next += 8;
      return Number(values.readBigUInt64LE(next - 8));
    };
    const unpacked = take(sizes.unpacked);
    const packed = take(sizes.packed);
    return { unpacked, packed, offset: take(sizes.offset) };
  }
  return sizes;
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, length)), 0, Math.max(0, length), position);
  if (bytesRead < length) throw damaged();
  return buffer;
}

function damaged(cause?: unknown): FeedFailure {
  return new FeedFailure("malformed", "its ZIP archive is damaged", { cause });
}
