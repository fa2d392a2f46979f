import type { PacketIoClock } from "../capture/capture-types.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";
import { PacketIoError } from "../errors.ts";
import { PAGE_OCTETS } from "./page-memory.ts";

/** Writes much memory to files, in one call to the system each time and in a thread of libuv's pool. What is written is the writer's own until its promise is settled. */
export interface PieceWriter {
  /**
   * Writes to a file in pieces.
   * @param file Not open for direct I/O.
   * @param bytes Beyond a megabyte only the front is written.
   * @param position Of the file.
   * @returns How much of the front is in the file; 0 where nothing is: write it in another way then, which says why. What lies behind that may be written too. Never rejects.
   */
  write(file: number, bytes: Uint8Array, position: number): Promise<number>;
  /**
   * Writes whole pages to the disk past the kernel's cache, all as one.
   * @param file Open for direct I/O (O_DIRECT of open(2)).
   * @param blocks At most `MAX_BLOCKS`, of whole pages and beginning with one; they lie behind each other in the file.
   * @param position Of the file, a multiple of `PAGE_OCTETS`.
   * @returns As `write`. 0 too where something is no whole page.
   */
  writePast(file: number, blocks: readonly Uint8Array[], position: number): Promise<number>;
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

/** A `struct iocb` and a `struct io_event`. @see linux/aio_abi.h */
const BLOCK_OCTETS = 64;
const OPERATION_AT = 16;
const FILE_AT = 20;
const BYTES_AT = 24;
const LENGTH_AT = 32;
const POSITION_AT = 40;
const PWRITE = 1;
const PWRITEV = 8;
const EVENT_OCTETS = 32;
const RESULT_AT = 16;
const POINTER_OCTETS = 8;
/** Blocks that go past the cache at once. */
const MAX_BLOCKS = 16;
/** A `struct iovec`. @see readv(2) */
const VECTOR_OCTETS = 16;
/** Only file systems that answer later are asked again: none does for what its cache takes, and few where the file gets longer. */
const LOOK_AGAIN_MS = 1;

/** What one write needs. It is used again: to make a context costs more than a write, and to end one more still. */
interface Slot {
  readonly context: bigint;
  readonly blocks: Buffer;
  readonly pointers: Buffer;
  readonly events: Buffer;
  readonly vectors: Buffer;
}

/** @returns Null where the system has no asynchronous I/O, or the C library cannot be called. */
export function openPieceWriter(clock: Pick<PacketIoClock, "after">): PieceWriter | null {
  const libc = loaded();
  const first = libc && openSlot(libc);
  if (!libc || !first) return null;
  const idle: Slot[] = [first];
  let isReleasing = false;

  /** @param fill Describes in a slot what is to be done, and says how long each operation is. @returns How much of the front is in the file. */
  const submit = async (fill: (slot: Slot) => readonly number[]): Promise<number> => {
    const slot = idle.pop() ?? openSlot(libc);
    if (!slot) return 0;
    const lengths = fill(slot);
    const begun = await new Promise<number>((resolve) => libc.ioSubmit(slot.context, lengths.length, slot.pointers, resolve));
    const results = await collect(slot, { libc, clock, begun: Math.max(0, begun) });
    idle.push(slot);
    return frontOf(results, lengths);
  };

  return {
    release(file, position, length) {
      if (isReleasing) return;
      isReleasing = true;
      libc.fadvise(file, position, length, LINUX.POSIX_FADV_DONTNEED, () => {
        isReleasing = false;
      });
    },
    write: (file, bytes, position) => submit((slot) => {
      const pieces = piecesOf(bytes.length, position);
      describePieces(slot, { file, address: libc.addressOf(bytes), position, pieces });
      return pieces;
    }),
    writePast(file, blocks, position) {
      const addresses = blocks.map((block) => libc.addressOf(block));
      const areWhole = position % PAGE_OCTETS === 0 && blocks.every(({ length }) => length % PAGE_OCTETS === 0) && addresses.every((address) => address % BigInt(PAGE_OCTETS) === 0n);
      if (!areWhole || blocks.length > MAX_BLOCKS) return Promise.resolve(0);
      return submit((slot) => {
        describeBlocks(slot, { file, vectorsAt: libc.addressOf(slot.vectors), position, blocks, addresses });
        return [blocks.reduce((sum, { length }) => sum + length, 0)];
      });
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
    pointers.writeBigUInt64LE(blocksAt + BigInt(index * BLOCK_OCTETS), index * POINTER_OCTETS);
  }
  return { context, blocks, pointers, events: Buffer.allocUnsafeSlow(MAX_PIECES * EVENT_OCTETS), vectors: Buffer.allocUnsafeSlow(MAX_BLOCKS * VECTOR_OCTETS) };
}

/** @returns Lengths of pieces that end at multiples of `PIECE_OCTETS` of the file. */
function piecesOf(length: number, position: number): readonly number[] {
  const pieces: number[] = [];
  for (let at = 0; at < length && pieces.length < MAX_PIECES;) {
    const piece = Math.min(length - at, PIECE_OCTETS - ((position + at) % PIECE_OCTETS));
    pieces.push(piece);
    at += piece;
  }
  return pieces;
}

function describePieces(slot: Slot, { file, address, position, pieces }: {
  readonly file: number; readonly address: bigint; readonly position: number; readonly pieces: readonly number[];
}): void {
  let offset = 0;
  for (const [index, length] of pieces.entries()) {
    describe(slot, index, { operation: PWRITE, file, address: address + BigInt(offset), length, position: position + offset });
    offset += length;
  }
}

function describeBlocks(slot: Slot, { file, vectorsAt, position, blocks, addresses }: {
  readonly file: number; readonly vectorsAt: bigint; readonly position: number; readonly blocks: readonly Uint8Array[]; readonly addresses: readonly bigint[];
}): void {
  for (const [index, { length }] of blocks.entries()) {
    slot.vectors.writeBigUInt64LE(addresses[index] ?? 0n, index * VECTOR_OCTETS);
    slot.vectors.writeBigUInt64LE(BigInt(length), index * VECTOR_OCTETS + POINTER_OCTETS);
  }
  describe(slot, 0, { operation: PWRITEV, file, address: vectorsAt, length: blocks.length, position });
}

/** @param write.length Octets; of vectors how many. */
function describe({ blocks }: Slot, index: number, write: { readonly operation: number; readonly file: number; readonly address: bigint; readonly length: number; readonly position: number }): void {
  const at = index * BLOCK_OCTETS;
  blocks.writeUInt16LE(write.operation, at + OPERATION_AT);
  blocks.writeUInt32LE(write.file, at + FILE_AT);
  blocks.writeBigUInt64LE(write.address, at + BYTES_AT);
  blocks.writeBigUInt64LE(BigInt(write.length), at + LENGTH_AT);
  blocks.writeBigInt64LE(BigInt(write.position), at + POSITION_AT);
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
function frontOf(results: readonly number[], lengths: readonly number[]): number {
  let front = 0;
  for (const [index, length] of lengths.entries()) {
    const result = Math.max(0, results[index] ?? 0);
    front += result;
    if (result < length) break;
  }
  return front;
}
