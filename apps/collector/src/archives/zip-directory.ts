// The directory at the end of a ZIP archive. See APPNOTE.TXT 6.3.10 sections 4.3.12 to 4.3.16
import type { FileHandle } from "node:fs/promises";
import { damagedZip, ZipError } from "./zip-error.ts";

/** A file of an archive, as the directory has it. Sizes are claims until it is read. */
export interface ZipEntry {
  readonly name: string;
  /** Of its own header, from the beginning of the archive. */
  readonly offset: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly crc32: number;
  readonly method: number;
  readonly isEncrypted: boolean;
}

/** How much an archive may unpack to. */
export interface ZipLimits {
  readonly maxUnpackedBytes: number;
  /** Times the archive's own size. */
  readonly maxRatio: number;
  /** Below this, nothing is a bomb; 1 MB where it is not given. */
  readonly ratioFreeBytes?: number;
}

/** The methods that are read: the bytes as they are, and Deflate. */
export const [STORED, DEFLATED] = [0, 8] as const;

const END = 0x06_05_4b_50;
const END_64 = 0x06_06_4b_50;
const LOCATOR_64 = 0x07_06_4b_50;
const ENTRY = 0x02_01_4b_50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
/** The CVE list has 300,000 files, with 150 bytes each in the directory. */
const MAX_DIRECTORY_BYTES = 256_000_000;
/** Three times what the CVE list has. */
const MAX_ENTRIES = 1_000_000;
const PIECE_BYTES = 262_144;
const RATIO_FREE_BYTES = 1e6;
const IN_64 = 0xff_ff_ff_ff;
const COUNT_IN_64 = 0xff_ff;
/** Encrypted, strongly encrypted, or with a directory that is. @see APPNOTE.TXT section 4.4.4 */
const ENCRYPTED_FLAGS = 0x20_41;

interface Place {
  readonly offset: number;
  readonly bytes: number;
  readonly entries: number;
}

/**
 * Reads an archive's directory, some thousand files at a time. Nothing is unpacked. When it ends, the files were as many as the archive says.
 * @throws ZipError `malformed` and `truncated` for what is no whole archive, `bomb` and `too-large` where it says that it unpacks to more than it may.
 */
export async function* readZipEntries(handle: FileHandle, limits: ZipLimits): AsyncGenerator<readonly ZipEntry[]> {
  const { size } = await handle.stat();
  const place = await locate(handle, size);
  if (place.entries > MAX_ENTRIES) throw new ZipError("too-large", `it has more than ${MAX_ENTRIES} files`);
  if (place.bytes > MAX_DIRECTORY_BYTES || place.offset + place.bytes > size) throw damagedZip();
  const maxBytes = Math.max(limits.ratioFreeBytes ?? RATIO_FREE_BYTES, size * limits.maxRatio);
  let [entries, unpacked, position] = [0, 0, place.offset];
  let rest = Buffer.alloc(0);
  while (position < place.offset + place.bytes) {
    const piece = await readAt(handle, position, Math.min(place.offset + place.bytes - position, PIECE_BYTES));
    position += piece.length;
    rest = Buffer.concat([rest, piece]);
    const found: ZipEntry[] = [];
    let at = 0;
    for (let length = entryLength(rest, at); length !== null && at + length <= rest.length; length = entryLength(rest, at)) {
      const entry = entryOf(rest.subarray(at, at + length));
      unpacked += entry.unpackedBytes;
      if (unpacked > limits.maxUnpackedBytes) throw new ZipError("too-large", "unpacked it is larger than it may be");
      if (unpacked > maxBytes) throw new ZipError("bomb", `it unpacks to more than ${limits.maxRatio} times its size`);
      found.push(entry);
      at += length;
    }
    rest = rest.subarray(at);
    entries += found.length;
    if (found.length > 0) yield found;
  }
  if (rest.length > 0 || entries === 0 || entries !== place.entries) throw damagedZip();
}

/** Reads so many bytes. @throws ZipError `malformed` where there are fewer. */
export async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, length)), 0, Math.max(0, length), position);
  if (bytesRead < length) throw damagedZip();
  return buffer;
}

async function locate(handle: FileHandle, size: number): Promise<Place> {
  const length = Math.min(size, END_BYTES + MAX_COMMENT);
  const tail = await readAt(handle, size - length, length);
  let at = tail.length - END_BYTES;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1;
  if (at < 0) throw new ZipError("truncated", "it is no whole ZIP archive");
  const found = { entries: tail.readUInt16LE(at + 10), bytes: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) };
  if (found.offset !== IN_64 && found.bytes !== IN_64 && found.entries !== COUNT_IN_64) return found;
  if (at < 20 || tail.readUInt32LE(at - 20) !== LOCATOR_64) return found;
  const end = await readAt(handle, Number(tail.readBigUInt64LE(at - 12)), 56);
  if (end.readUInt32LE(0) !== END_64) throw damagedZip();
  return { entries: Number(end.readBigUInt64LE(32)), bytes: Number(end.readBigUInt64LE(40)), offset: Number(end.readBigUInt64LE(48)) };
}

/** @returns Null where more bytes are needed. */
function entryLength(bytes: Buffer, at: number): number | null {
  if (bytes.length - at < 46) return null;
  if (bytes.readUInt32LE(at) !== ENTRY) throw damagedZip();
  return 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
}

function entryOf(bytes: Buffer): ZipEntry {
  return {
    ...sizesOf(bytes), name: bytes.toString("latin1", 46, 46 + bytes.readUInt16LE(28)), crc32: bytes.readUInt32LE(16), method: bytes.readUInt16LE(10),
    isEncrypted: (bytes.readUInt16LE(8) & ENCRYPTED_FLAGS) !== 0,
  };
}

/** Of one entry, also those that its ZIP64 field has. @see APPNOTE.TXT section 4.5.3 */
function sizesOf(entry: Buffer): Pick<ZipEntry, "packedBytes" | "unpackedBytes" | "offset"> {
  const sizes = { packedBytes: entry.readUInt32LE(20), unpackedBytes: entry.readUInt32LE(24), offset: entry.readUInt32LE(42) };
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
    const unpackedBytes = take(sizes.unpackedBytes);
    const packedBytes = take(sizes.packedBytes);
    return { unpackedBytes, packedBytes, offset: take(sizes.offset) };
  }
  return sizes;
}
