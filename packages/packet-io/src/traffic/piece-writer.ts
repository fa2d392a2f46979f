import type { PacketIoClock } from "../capture/capture-types.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";
import { PacketIoError } from "../errors.ts";
import { PAGE_OCTETS } from "./page-memory.ts";

/** Writes much memory to files in pieces, all of them in one call to the system. */
export interface PieceWriter {
  /**
   * Writes to a file, in a thread of libuv's pool.
   * @param file Not open for direct I/O.
   * @param bytes Its own until the promise is settled; beyond a megabyte only the front is written.
   * @param position Of the file.
   * @param direct The same file, open for direct I/O (O_DIRECT of open(2)): the pages of it that `bytes` fills go to the disk past the kernel's cache, if
   * `bytes` lies in memory as it will in the file, by the octet of a page that it begins with.
   * @returns How much of the front is in the file; 0 where nothing is: write it in another way then, which says why. What lies behind that may be written too. Never rejects.
   */
  write(file: number, bytes: Uint8Array, position: number, direct?: number): Promise<number>;
  /**
   * Has a stretch of a file go to the disk now, and leave the kernel's cache as far as it is there: whoever writes for hours fills the memory of the
   * machine otherwise, and each page that was never used before costs more than what is copied into it. In a thread of libuv's pool; passed over while
   * the stretch before is on its way, as the disk may be slow.
   * @see posix_fadvise(2), POSIX_FADV_DONTNEED
   */
  release(file: number, position: number, length: number): void;
}

/**
 * The kernel takes pages for its cache by the length of a write. From 256 KiB on it often has to break up its large free pages for them, which a
 * virtual machine that gives these back to its host has to get back first: 512 KiB at once took two to four times as long as in pieces of this length.
 */
const PIECE_OCTETS = 128 * 1024;
/** A megabyte, and one that is shorter: pieces end where the file has whole ones. */
const MAX_PIECES = 9;
const MAX_OCTETS = (MAX_PIECES - 1) * PIECE_OCTETS;

/** A `struct iocb` and a `struct io_event`. @see linux/aio_abi.h */
const BLOCK_OCTETS = 64;
const OPERATION_AT = 16;
const FILE_AT = 20;
const BYTES_AT = 24;
const LENGTH_AT = 32;
const POSITION_AT = 40;
const PWRITE = 1;
const EVENT_OCTETS = 32;
const RESULT_AT = 16;
const POINTER_OCTETS = 8;
/** Only file systems that answer later are asked again: none does for what its cache takes, and few where the file gets longer. */
const LOOK_AGAIN_MS = 1;

/** What one write needs. It is used again: to make a context costs more than a write, and to end one more still. */
interface Slot {
  readonly context: bigint;
  readonly blocks: Buffer;
  readonly pointers: Buffer;
  readonly events: Buffer;
}

/** @returns Null where the system has no asynchronous I/O, or the C library cannot be called. */
export function openPieceWriter(clock: Pick<PacketIoClock, "after">): PieceWriter | null {
  const libc = loaded();
  const first = libc && openSlot(libc);
  if (!first) return null;
  const idle: Slot[] = [first];
  let isReleasing = false;
  return {
    release(file, position, length) {
      if (isReleasing) return;
      isReleasing = true;
      libc.fadvise(file, position, length, LINUX.POSIX_FADV_DONTNEED, () => {
        isReleasing = false;
      });
    },
    async write(file, bytes, position, direct) {
      const slot = idle.pop() ?? openSlot(libc);
      if (!slot) return 0;
      const address = libc.addressOf(bytes);
      const isLikeInFile = Number(address % BigInt(PAGE_OCTETS)) === position % PAGE_OCTETS;
      const pieces = direct !== undefined && isLikeInFile ? piecesPastCache(bytes.length, position, { file, direct }) : piecesOf(bytes.length, position, file);
      describe(slot, { address, position, pieces });
      const begun = await new Promise<number>((resolve) => libc.ioSubmit(slot.context, pieces.length, slot.pointers, resolve));
      const results = await collect(slot, { libc, clock, begun: Math.max(0, begun) });
      idle.push(slot);
      return frontOf(results, pieces);
    },
  };
}

function loaded(): Libc | null {
  try {
    return loadLibc();
  } catch (error) {
    if (error instanceof PacketIoError) return null;
    throw error;
  }
}

function openSlot(libc: Libc): Slot | null {
  const context = libc.ioSetup(MAX_PIECES);
  if (context === null) return null;
  const blocks = Buffer.allocUnsafeSlow(MAX_PIECES * BLOCK_OCTETS).fill(0);
  const pointers = Buffer.allocUnsafeSlow(MAX_PIECES * POINTER_OCTETS);
  const blocksAt = libc.addressOf(blocks);
  for (let index = 0; index < MAX_PIECES; index += 1) {
    blocks.writeBigUInt64LE(BigInt(index), index * BLOCK_OCTETS);
    blocks.writeUInt16LE(PWRITE, index * BLOCK_OCTETS + OPERATION_AT);
    pointers.writeBigUInt64LE(blocksAt + BigInt(index * BLOCK_OCTETS), index * POINTER_OCTETS);
  }
  return { context, blocks, pointers, events: Buffer.allocUnsafeSlow(MAX_PIECES * EVENT_OCTETS) };
}

/** One piece, and which file it goes to. */
interface Piece {
  readonly length: number;
  readonly file: number;
}

/** @returns Pieces that end at multiples of `PIECE_OCTETS` of the file. */
function piecesOf(length: number, position: number, file: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < length && pieces.length < MAX_PIECES;) {
    const piece = Math.min(length - at, PIECE_OCTETS - ((position + at) % PIECE_OCTETS));
    pieces.push({ length: piece, file });
    at += piece;
  }
  return pieces;
}

/** @returns Whole pages as one piece, and what is before and behind them: the pages that others write a part of are in the cache, and no others. */
function piecesPastCache(whole: number, position: number, { file, direct }: { readonly file: number; readonly direct: number }): readonly Piece[] {
  const length = Math.min(whole, MAX_OCTETS);
  const before = Math.min(length, (PAGE_OCTETS - (position % PAGE_OCTETS)) % PAGE_OCTETS);
  const behind = (length - before) % PAGE_OCTETS;
  return [{ length: before, file }, { length: length - before - behind, file: direct }, { length: behind, file }].filter((piece) => piece.length > 0);
}

function describe({ blocks }: Slot, { address, position, pieces }: { readonly address: bigint; readonly position: number; readonly pieces: readonly Piece[] }): void {
  let offset = 0;
  for (const [index, { length, file }] of pieces.entries()) {
    const at = index * BLOCK_OCTETS;
    blocks.writeUInt32LE(file, at + FILE_AT);
    blocks.writeBigUInt64LE(address + BigInt(offset), at + BYTES_AT);
    blocks.writeBigUInt64LE(BigInt(length), at + LENGTH_AT);
    blocks.writeBigInt64LE(BigInt(position + offset), at + POSITION_AT);
    offset += length;
  }
}

/** @returns Of each piece that was begun what became of it: octets, or below 0 an error. */
async function collect({ context, events }: Slot, { libc, clock, begun }: {
  readonly libc: Libc; readonly clock: Pick<PacketIoClock, "after">; readonly begun: number;
}): Promise<readonly number[]> {
  const results = Array.from({ length: begun }, () => 0);
  for (let left = begun; left > 0;) {
    const taken = Math.max(0, libc.ioGetEvents(context, left, events));
    for (let index = 0; index < taken; index += 1) {
      const at = index * EVENT_OCTETS;
      results[Number(events.readBigUInt64LE(at))] = Number(events.readBigInt64LE(at + RESULT_AT));
    }
    left -= taken;
    if (left > 0) await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve));
  }
  return results;
}

/** @returns How much is written without a hole. */
function frontOf(results: readonly number[], pieces: readonly Piece[]): number {
  let front = 0;
  for (const [index, { length }] of pieces.entries()) {
    const result = Math.max(0, results[index] ?? 0);
    front += result;
    if (result < length) break;
  }
  return front;
}
