import type { PacketIoClock } from "../capture/capture-types.ts";
import { findLibc, type Libc, LINUX } from "../libc.ts";
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

/** A `struct iocb` and a `struct io_event`, in words of 32 bits; a number of 64 bits is two of them, the lower one first. @see linux/aio_abi.h */
const BLOCK_WORDS = 16;
const OPERATION_AT = 4;
const FILE_AT = 5;
const BYTES_AT = 6;
const LENGTH_AT = 8;
const POSITION_AT = 10;
const PWRITE = 1;
const PWRITEV = 8;
const EVENT_WORDS = 8;
const RESULT_AT = 4;
const POINTER_WORDS = 2;
const WORD_OCTETS = 4;
const WORD_VALUES = 2 ** 32;
/** Blocks that go past the cache at once. */
const MAX_BLOCKS = 16;
/** A `struct iovec`: where, and how much. @see readv(2) */
const VECTOR_WORDS = 4;
const VECTOR_LENGTH_AT = 2;
/** Only file systems that answer later are asked again: none does for what its cache takes, and few where the file gets longer. */
const LOOK_AGAIN_MS = 1;

/** What one write needs. It is used again: to make a context costs more than a write, and to end one more still. */
interface Slot {
  readonly context: bigint;
  readonly blocks: Uint32Array;
  readonly pointers: Buffer;
  readonly events: Uint32Array;
  readonly vectors: Uint32Array;
  readonly vectorsAt: number;
}

/** @returns Null where the system has no asynchronous I/O, or the C library cannot be called. */
export function openPieceWriter(clock: Pick<PacketIoClock, "after">): PieceWriter | null {
  const libc = findLibc();
  const first = libc && openSlot(libc);
  if (!libc || !first) return null;
  const idle: Slot[] = [first];
  const addressOf = createAddresses(libc);
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
      describePieces(slot, { file, address: addressOf(bytes), position, pieces });
      return pieces;
    }),
    writePast(file, blocks, position) {
      if (blocks.length > MAX_BLOCKS || position % PAGE_OCTETS !== 0) return Promise.resolve(0);
      if (!blocks.every((block) => block.length % PAGE_OCTETS === 0 && addressOf(block) % PAGE_OCTETS === 0)) return Promise.resolve(0);
      return submit((slot) => {
        let octets = 0;
        for (const [index, block] of blocks.entries()) {
          put64(slot.vectors, index * VECTOR_WORDS, addressOf(block));
          put64(slot.vectors, index * VECTOR_WORDS + VECTOR_LENGTH_AT, block.length);
          octets += block.length;
        }
        describe(slot, 0, { operation: PWRITEV, file, address: slot.vectorsAt, length: blocks.length, position });
        return [octets];
      });
    },
  };
}

function openSlot(libc: Libc): Slot | null {
  const context = libc.ioSetup(MAX_PIECES);
  if (context === null) return null;
  const blocks = new Uint32Array(MAX_PIECES * BLOCK_WORDS);
  const pointers = new Uint32Array(MAX_PIECES * POINTER_WORDS);
  const blocksAt = Number(libc.addressOf(bytesOf(blocks)));
  for (let index = 0; index < MAX_PIECES; index += 1) {
    put64(blocks, index * BLOCK_WORDS, index);
    put64(pointers, index * POINTER_WORDS, blocksAt + index * BLOCK_WORDS * WORD_OCTETS);
  }
  const vectors = new Uint32Array(MAX_BLOCKS * VECTOR_WORDS);
  return { context, blocks, pointers: bytesOf(pointers), events: new Uint32Array(MAX_PIECES * EVENT_WORDS), vectors, vectorsAt: Number(libc.addressOf(bytesOf(vectors))) };
}

const bytesOf = (words: Uint32Array): Buffer => Buffer.from(words.buffer, words.byteOffset, words.byteLength);

/** Writes a number of 64 bits, none below 0. */
function put64(words: Uint32Array, at: number, value: number): void {
  words[at] = value;
  words[at + 1] = value / WORD_VALUES;
}

/** Finds addresses of memory; the C library is asked once for each stretch of it, which stays where it is. */
function createAddresses(libc: Libc): (memory: Uint8Array) => number {
  const known = new WeakMap<ArrayBufferLike, number>();
  return (memory) => {
    let base = known.get(memory.buffer);
    if (base === undefined) {
      base = Number(libc.addressOf(memory)) - memory.byteOffset;
      known.set(memory.buffer, base);
    }
    return base + memory.byteOffset;
  };
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
  readonly file: number; readonly address: number; readonly position: number; readonly pieces: readonly number[];
}): void {
  let offset = 0;
  for (const [index, length] of pieces.entries()) {
    describe(slot, index, { operation: PWRITE, file, address: address + offset, length, position: position + offset });
    offset += length;
  }
}

/** @param write.length Octets; of vectors how many. */
function describe({ blocks }: Slot, index: number, write: { readonly operation: number; readonly file: number; readonly address: number; readonly length: number; readonly position: number }): void {
  const at = index * BLOCK_WORDS;
  blocks[at + OPERATION_AT] = write.operation;
  blocks[at + FILE_AT] = write.file;
  put64(blocks, at + BYTES_AT, write.address);
  put64(blocks, at + LENGTH_AT, write.length);
  put64(blocks, at + POSITION_AT, write.position);
}

/** @returns Of each piece that was begun what became of it: octets, or below 0 an error. */
async function collect({ context, events }: Slot, { libc, clock, begun }: {
  readonly libc: Libc; readonly clock: Pick<PacketIoClock, "after">; readonly begun: number;
}): Promise<readonly number[]> {
  const results = Array.from({ length: begun }, () => 0);
  for (let left = begun; left > 0;) {
    const taken = Math.max(0, libc.ioGetEvents(context, left, bytesOf(events)));
    for (let index = 0; index < taken; index += 1) {
      const at = index * EVENT_WORDS;
      const isError = (events[at + RESULT_AT + 1] as number) !== 0;
      results[events[at] as number] = isError ? -1 : (events[at + RESULT_AT] as number);
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
