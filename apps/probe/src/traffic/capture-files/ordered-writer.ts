import { PAGE_OCTETS } from "@lanthorn/packet-io";
import { MIN_PADDING_OCTETS } from "@lanthorn/packets";
import { nextTurn } from "@lanthorn/runtime";
import type { BlockStore } from "./block-store.ts";
import { type BufferPool, ROOM_BYTES } from "./buffer-pool.ts";

/** Writes a file from buffers of the pool, in order, without blocking. Each buffer holds whole blocks. */
export interface OrderedWriter {
  /**
   * Makes room for so many bytes, at most `ROOM_BYTES`, at `at` of `buffer`.
   * @returns False while all buffers wait for the disk, and after a fault.
   */
  reserve(bytes: number): boolean;
  /** What was reserved goes here. */
  readonly buffer: Buffer;
  /** Where the next byte goes; moved on by who writes it. */
  at: number;
  /** Of the file: where `buffer` begins. */
  begin: number;
  /** Hands over what is in memory, and waits until it is in the file; what comes meanwhile may not be. */
  flush(): Promise<void>;
  /** Waits until a buffer is free again. */
  ready(): Promise<void>;
}

/**
 * Buffers of one file that wait; a file that is written fast must not take all from others. What waits is written together, so many at once: a write costs this process as much
 * time as some hundred frames, however long it is, and takes a turn of the event loop.
 */
const PAST = { queued: 18, atOnce: 8 } as const;
/** Of a file that goes by way of the kernel's cache, whose checksum takes a turn too: a millisecond for each buffer. */
const CACHED = { queued: 12, atOnce: 3 } as const;
/** For the same reason the next write waits in the kernel already while one is made, where it has enough to write: the disk is not to wait for us. */
const MAX_WRITES = 2;
const MIN_BESIDE = 2;
/** Of less that is flushed, a page would be too much. */
const MIN_PADDED_BYTES = 128 * 1024;
const NO_BUFFER = Buffer.alloc(0);

/** Fills so many octets with what says nothing: a multiple of 4, `MIN_PADDING_OCTETS` at least. */
type Pad = (into: Buffer, at: number, octets: number) => void;

/**
 * @param deps.store Where the buffers go.
 * @param deps.pad For files that go past the kernel's cache: a buffer ends with a page of the file. Null for all others.
 */
export function createOrderedWriter({ store, pool, pad }: { readonly store: BlockStore; readonly pool: BufferPool; readonly pad: Pad | null }): OrderedWriter {
  const most = pad === null ? CACHED : PAST;
  const queue: { readonly buffer: Buffer; readonly length: number }[] = [];
  /** Of the queue, from its front on: they are being written. */
  let begun = 0;
  let writes = 0;
  let flushes = 0;
  let last: Promise<void> = Promise.resolve();
  const waiting: (() => void)[] = [];

  async function writeNext(): Promise<void> {
    const next = queue.slice(begun, begun + most.atOnce);
    begun += next.length;
    writes += 1;
    await store.append(...next.map(({ buffer, length }) => buffer.subarray(0, length)));
    writes -= 1;
    begun -= next.length;
    queue.splice(0, next.length);
    for (const { buffer } of next) pool.give(buffer);
    for (const resolve of waiting.splice(0)) resolve();
    write();
  }

  /** Of the buffers for which a write is begun. Some wait for more, where there are free ones, nobody waits for these, and nobody reads the file soon. */
  function fewest(): number {
    if (writes > 0) return pool.free < most.atOnce ? MIN_BESIDE : most.atOnce;
    return pad !== null && flushes === 0 && waiting.length === 0 && pool.free > 0 ? most.atOnce : 1;
  }

  function write(): void {
    while (writes < MAX_WRITES && queue.length - begun >= fewest()) last = writeNext();
  }

  /** What was handed over goes with the next `write`. */
  function handOver(): void {
    if (writer.buffer === NO_BUFFER) return;
    const padding = pad !== null && writer.at >= MIN_PADDED_BYTES ? paddingAt(writer.begin + writer.at) : 0;
    if (padding > 0) pad?.(writer.buffer, writer.at, padding);
    writer.at += padding;
    if (writer.at === 0) pool.give(writer.buffer);
    else queue.push({ buffer: writer.buffer, length: writer.at });
    writer.begin += writer.at;
    writer.buffer = NO_BUFFER;
    writer.at = 0;
  }

  const writer = {
    buffer: NO_BUFFER as Buffer,
    at: 0,
    begin: 0,
    reserve(bytes: number) {
      if (store.fault !== null) return false;
      if (writer.buffer !== NO_BUFFER && writer.at + bytes <= ROOM_BYTES) return true;
      if (bytes > ROOM_BYTES) return false;
      handOver();
      const next = queue.length < most.queued ? pool.take() : null;
      // After it: where this was the last free one, nothing waits for more.
      write();
      writer.buffer = next ?? NO_BUFFER;
      return next !== null;
    },
    async flush() {
      flushes += 1;
      handOver();
      write();
      const newest = queue.at(-1);
      await store.opened;
      // What comes meanwhile is not waited for: on a slow disk there would be no end of it.
      while (queue.some((one) => one === newest)) await last;
      flushes -= 1;
    },
    ready() {
      if (queue.length === 0) return nextTurn();
      const isReady = new Promise<void>((resolve) => void waiting.push(resolve));
      write();
      return isReady;
    },
  };
  return writer;
}

/** @returns How much padding it takes from there to the end of a page of the file; 0 where one ends there. */
function paddingAt(position: number): number {
  const octets = (PAGE_OCTETS - (position % PAGE_OCTETS)) % PAGE_OCTETS;
  return octets > 0 && octets < MIN_PADDING_OCTETS ? octets + PAGE_OCTETS : octets;
}
