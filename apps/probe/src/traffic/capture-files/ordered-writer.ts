import { nextTurn } from "@lanthorn/runtime";
import type { BlockStore } from "./block-store.ts";
import { type BufferPool, leadOf, ROOM_BYTES } from "./buffer-pool.ts";

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
  /** Hands over what is in memory, and waits until it is in the file. */
  flush(): Promise<void>;
  /** Waits until a buffer is free again. */
  ready(): Promise<void>;
}

/** Buffers of one file; a file that is written fast must not take all from others. */
const MAX_QUEUED = 12;
/** What waits is written together: each write takes a turn of the event loop, and turns are long when there is much to do. */
const MAX_AT_ONCE = 4;
const NO_BUFFER = Buffer.alloc(0);

/** @param deps.store Where the buffers go. */
export function createOrderedWriter({ store, pool }: { readonly store: BlockStore; readonly pool: BufferPool }): OrderedWriter {
  const queue: { readonly buffer: Buffer; readonly from: number; readonly to: number }[] = [];
  /** Of the file: where what is in `buffer` begins, once all before it is written. */
  let position = 0;
  let pumping: Promise<void> = Promise.resolve();
  let isPumping = false;
  let waiting: (() => void)[] = [];

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      const next = queue.slice(0, MAX_AT_ONCE);
      await store.append(...next.map(({ buffer, from, to }) => buffer.subarray(from, to)));
      queue.splice(0, next.length);
      for (const { buffer } of next) pool.give(buffer);
      const awakened = waiting;
      waiting = [];
      for (const resolve of awakened) resolve();
    }
    isPumping = false;
  }

  function write(): void {
    if (isPumping || queue.length === 0) return;
    isPumping = true;
    pumping = pump();
  }

  function handOver(): void {
    if (writer.buffer === NO_BUFFER) return;
    const from = leadOf(position);
    if (writer.at === from) pool.give(writer.buffer);
    else queue.push({ buffer: writer.buffer, from, to: writer.at });
    position += writer.at - from;
    writer.buffer = NO_BUFFER;
    writer.at = 0;
    write();
  }

  const writer = {
    buffer: NO_BUFFER as Buffer,
    at: 0,
    reserve(bytes: number) {
      if (store.fault !== null) return false;
      if (writer.at + bytes <= writer.buffer.length) return true;
      if (bytes > ROOM_BYTES) return false;
      handOver();
      const next = queue.length < MAX_QUEUED ? pool.take() : null;
      if (next === null) return false;
      writer.buffer = next;
      writer.at = leadOf(position);
      return true;
    },
    async flush() {
      handOver();
      await store.opened;
      while (queue.length > 0) await pumping;
    },
    ready() {
      return queue.length === 0 ? nextTurn() : new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
  return writer;
}
