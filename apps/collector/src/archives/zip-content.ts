import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import { damagedZip, ZipError } from "./zip-error.ts";
import { DEFLATED, readAt, STORED, type ZipEntry } from "./zip-directory.ts";

/** Signature of a file's own header. */
const LOCAL = 0x04_03_4b_50;
const LOCAL_BYTES = 30;
/** Its own header may have other extra fields than the directory: as many are read at once with the content, and more where there are more. */
const LIKELY_EXTRA = 64;
/** Below this a file is unpacked in one call. */
const SMALL_BYTES = 1024 * 1024;
const PIECE_BYTES = 262_144;

/**
 * Unpacks a file of an archive, in pieces of at most 1 MiB.
 * @throws ZipError `unsupported` for one that is encrypted or packed in another way; `malformed` where what comes out is not as long as the directory
 * says, has another CRC, or where the file's own header has another name. Pieces before that were given.
 */
export async function* readZipContent(handle: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const { name, packedBytes, unpackedBytes, method, isEncrypted } = entry;
  if (isEncrypted) throw new ZipError("unsupported", `${shown(name)} in its ZIP archive is encrypted`);
  if (method !== STORED && method !== DEFLATED) throw new ZipError("unsupported", `${shown(name)} in its ZIP archive is packed by method ${method}, which is not read`);
  if (method === STORED && packedBytes !== unpackedBytes) throw damagedZip();
  if (Math.max(packedBytes, unpackedBytes) <= SMALL_BYTES) yield await readSmall(handle, entry);
  else yield* readLarge(handle, entry);
}

async function readSmall(handle: FileHandle, entry: ZipEntry): Promise<Buffer> {
  const { name, offset, packedBytes, unpackedBytes, method } = entry;
  const likely = LOCAL_BYTES + name.length + LIKELY_EXTRA + packedBytes;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(likely), 0, likely, offset);
  const got = buffer.subarray(0, bytesRead);
  const start = contentStart(got, name);
  const packed = start + packedBytes <= got.length ? got.subarray(start, start + packedBytes) : await readAt(handle, offset + start, packedBytes);
  const content = method === STORED ? packed : inflate(packed, unpackedBytes);
  if (content.length !== unpackedBytes || crc32(content) !== entry.crc32) throw damagedZip();
  return content;
}

/** @param most What it may unpack to. */
function inflate(packed: Buffer, most: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) });
  } catch (error) {
    throw damagedZip(error);
  }
}

async function* readLarge(handle: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const { name, offset, packedBytes, unpackedBytes, method } = entry;
  const start = offset + contentStart(await readAt(handle, offset, LOCAL_BYTES + name.length), name);
  const packed = async function* packed(): AsyncGenerator<Buffer> {
    for (let at = 0; at < packedBytes; at += PIECE_BYTES) yield await readAt(handle, start + at, Math.min(PIECE_BYTES, packedBytes - at));
  };
  const source = Readable.from(packed(), { objectMode: false });
  const inflater = method === STORED ? null : createInflateRaw({ chunkSize: PIECE_BYTES });
  source.on("error", (error) => inflater?.destroy(error));
  let [length, sum] = [0, 0];
  try {
    for await (const chunk of (inflater === null ? source : source.pipe(inflater)) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > unpackedBytes) throw damagedZip();
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code?.startsWith("Z_") === true ? damagedZip(error) : error;
  } finally {
    source.destroy();
    inflater?.destroy();
  }
  if (length !== unpackedBytes || sum !== entry.crc32) throw damagedZip();
}

/** @returns Where the content begins behind the file's own header. @see APPNOTE.TXT section 4.3.7 */
function contentStart(bytes: Buffer, name: string): number {
  if (bytes.length < LOCAL_BYTES + name.length || bytes.readUInt32LE(0) !== LOCAL || bytes.readUInt16LE(26) !== name.length) throw damagedZip();
  if (bytes.toString("latin1", LOCAL_BYTES, LOCAL_BYTES + name.length) !== name) throw damagedZip();
  return LOCAL_BYTES + name.length + bytes.readUInt16LE(28);
}

/** A name from outside, for people. */
function shown(name: string): string {
  return JSON.stringify(name.slice(-80));
}
