import type { BlockPlace, FrameBlock, FrameCursor } from "@lanthorn/packet-io";

/** The frames of the last seconds, of all interfaces, in one stretch of memory. The oldest block leaves when room is needed, or when it is too old. */
export interface MemoryRing {
  /** Room for a block that is to be copied; what `commit` then gives. Blocks that lie there have left the ring. @throws RangeError for more than a quarter of the ring. */
  allocate(octets: number): BlockPlace;
  /** The block lies where `allocate` said. @returns What is held of it; null for a block without frames. */
  commit(block: FrameBlock, interfaceId: number, facts: BlockFacts): RingBlock | null;
  /** The block of a number, or the next one that is there; null where none is. Good until the next `allocate`. */
  blockAt(sequence: number): RingBlock | null;
  /** The number of the newest block; null where none is. */
  lastSequence(): number | null;
  /** Blocks with frames of `fromMs` or later, the oldest first; milliseconds since the epoch. They are good until the next `allocate`. */
  blocksFrom(fromMs: number): readonly RingBlock[];
  /** Frames before this have left the ring, or never were in it: milliseconds since the epoch; null while nothing has left. */
  evictedUntil(): number | null;
  /**
   * Lets go of what has been in the ring for longer than it keeps. To be called some times a second: a block's age counts from the call before it.
   * @param now Milliseconds that only rise: a machine's clock that is set must not empty the ring.
   */
  tick(now: number): void;
  state(): { readonly bytes: number; readonly seconds: number; readonly evictedFrames: number };
}

/** What is known of a block without looking at its frames again. */
export interface BlockFacts {
  /** Times of its first and of its last frame: milliseconds since the epoch. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Octets of its frames on the wire. */
  readonly octets: number;
}

/** A block with its interface. */
export interface RingBlock extends FrameBlock, BlockFacts {
  /** Blocks are numbered as they come, from 0. */
  readonly sequence: number;
  readonly interfaceId: number;
}

interface HeldBlock extends RingBlock {
  /** Milliseconds that only rise; null before the first tick. */
  heldSince: number | null;
}

/** As the kernel aligns records. */
const ALIGNMENT = 8;
/** A link that carries a frame now and then makes a block of each: these are ten minutes of the kernel's shortest blocks. */
export const MAX_BLOCKS = 16_384;

/**
 * @param options.memory For all frames together.
 * @param options.seconds How long a frame stays at most.
 */
export function createMemoryRing(options: {
  readonly memory: Buffer; readonly seconds: number;
  /** The block leaves now: the last moment to read it. */
  readonly onEvict?: (block: RingBlock) => void;
}): MemoryRing {
  const { memory } = options;
  /** In the order in which they came; `first` is the oldest that is still there. */
  let blocks: HeldBlock[] = [];
  let first = 0;
  let nextSequence = 0;
  let head = 0;
  let tickedAt: number | null = null;
  let heldBytes = 0;
  let evictedFrames = 0;
  let evictedUntil: number | null = null;

  function evict(): void {
    const oldest = blocks[first] as RingBlock;
    options.onEvict?.(oldest);
    first += 1;
    heldBytes -= oldest.end - oldest.offset;
    evictedFrames += oldest.frames;
    evictedUntil = Math.max(evictedUntil ?? 0, oldest.lastMs);
    if (first > 1024 && first * 2 > blocks.length) {
      blocks = blocks.slice(first);
      first = 0;
    }
  }

  const count = () => blocks.length - first;

  return {
    allocate(octets) {
      if (octets > memory.length / 4) throw new RangeError(`a block of ${octets} bytes does not fit into a ring of ${memory.length}`);
      if (head + octets > memory.length) {
        // What lies behind the head is the oldest.
        while (count() > 0 && (blocks[first] as RingBlock).offset >= head) evict();
        head = 0;
      }
      const end = head + octets;
      while (count() > 0) {
        const oldest = blocks[first] as RingBlock;
        if (oldest.offset >= end || oldest.end <= head) break;
        evict();
      }
      return { bytes: memory, offset: head };
    },
    commit(block, interfaceId, { firstMs, lastMs, octets }) {
      if (block.frames === 0) return null;
      while (count() >= MAX_BLOCKS) evict();
      const { bytes, offset, end, frames } = block;
      const held = { bytes, offset, end, frames, interfaceId, firstMs, lastMs, octets, sequence: nextSequence, heldSince: tickedAt };
      blocks.push(held);
      nextSequence += 1;
      heldBytes += block.end - block.offset;
      head = Math.ceil(block.end / ALIGNMENT) * ALIGNMENT;
      if (head >= memory.length) head = 0;
      return held;
    },
    blockAt(sequence) {
      const oldest = blocks[first];
      return oldest ? blocks[first + Math.max(0, sequence - oldest.sequence)] ?? null : null;
    },
    lastSequence: () => (count() > 0 ? nextSequence - 1 : null),
    blocksFrom(fromMs) {
      // Blocks of several interfaces overlap in time, and a clock that was set back makes later blocks older: all are looked at.
      return blocks.slice(first).filter(({ lastMs }) => lastMs >= fromMs);
    },
    evictedUntil: () => evictedUntil,
    tick(now) {
      if (tickedAt === null) for (const block of blocks) block.heldSince = now;
      tickedAt = now;
      const limit = now - options.seconds * 1000;
      while (count() > 0 && ((blocks[first] as HeldBlock).heldSince ?? now) < limit) evict();
    },
    state() {
      const [oldest, newest] = [blocks[first], blocks.at(-1)];
      const seconds = count() > 0 && oldest && newest ? Math.max(0, newest.lastMs - oldest.firstMs) / 1000 : 0;
      return { bytes: heldBytes, seconds, evictedFrames };
    },
  };
}

/** Times of a frame in whole and broken milliseconds since the epoch. */
export function millisecondsOf(frame: Pick<FrameCursor, "seconds" | "nanoseconds">): number {
  return frame.seconds * 1000 + frame.nanoseconds / 1e6;
}

/** Looks at each frame of a block once. */
export function readBlockFacts(block: FrameBlock, cursor: FrameCursor): BlockFacts {
  cursor.start(block);
  if (!cursor.next()) return { firstMs: 0, lastMs: 0, octets: 0 };
  const firstMs = millisecondsOf(cursor);
  let octets = cursor.wireLength;
  while (cursor.next()) octets += cursor.wireLength;
  return { firstMs, lastMs: millisecondsOf(cursor), octets };
}
