import { beforeEach, expect, test } from "vitest";
import { nextTurn } from "@lanthorn/runtime";
import { type BufferPool, createBufferPool, ROOM_BYTES } from "./buffer-pool.ts";
import { createOrderedWriter, type OrderedWriter } from "./ordered-writer.ts";

/** How many buffers came with each write. */
let writes: number[] = [];
/** Ends those that are on their way. */
let end: () => Promise<void> = () => Promise.resolve();
beforeEach(() => {
  writes = [];
});

/** A writer whose writes take until `end`. */
function open(pool: BufferPool, pad: Parameters<typeof createOrderedWriter>[0]["pad"]): OrderedWriter {
  let ends: (() => void)[] = [];
  end = async () => {
    const now = ends;
    ends = [];
    for (const one of now) one();
    await nextTurn();
  };
  const store = {
    opened: Promise.resolve(), fault: null, finish: () => Promise.resolve(null),
    append: (...blocks: readonly Uint8Array[]) => new Promise<void>((resolve) => {
      writes.push(blocks.length);
      ends.push(resolve);
    }),
  };
  return createOrderedWriter({ store, pool, pad });
}

/** @returns Whether there was room for all of them. */
function fill(writer: OrderedWriter, buffers: number): boolean {
  for (let buffer = 0; buffer < buffers; buffer += 1) {
    if (!writer.reserve(ROOM_BYTES)) return false;
    writer.at += ROOM_BYTES;
  }
  return true;
}

const pad = (into: Buffer, at: number, octets: number) => void into.fill(0, at, at + octets);

test("what is recorded continuously is written eight buffers at a time, and beside that where few are left", async () => {
  const writer = open(createBufferPool({ buffers: 20 }), pad);
  fill(writer, 8);
  expect(writes).toEqual([]);
  fill(writer, 1);
  expect(writes).toEqual([8]);
  fill(writer, 3);
  expect(writes).toEqual([8]);
  fill(writer, 1);
  expect(writes).toEqual([8, 4]);
  await end();
  fill(writer, 7);
  expect(writes).toEqual([8, 4]);
  fill(writer, 1);
  expect(writes).toEqual([8, 4, 8]);
});

test("a file of which somebody waits is written as it comes", () => {
  const writer = open(createBufferPool({ buffers: 8 }), null);
  fill(writer, 2);
  expect(writes).toEqual([1]);
});

test("where no buffer is free nothing waits for more: what was full last is written, and the rest behind it", async () => {
  const writer = open(createBufferPool({ buffers: 2 }), pad);
  expect(fill(writer, 2)).toBe(true);
  expect(writes).toEqual([1]);
  expect(fill(writer, 1)).toBe(false);
  await end();
  expect(fill(writer, 1)).toBe(true);
  expect(writes).toEqual([1, 1]);
});

test("what is flushed is written at once, and what comes behind it waits for more again", async () => {
  const writer = open(createBufferPool({ buffers: 8 }), pad);
  fill(writer, 2);
  let flushed = 0;
  const flush = async () => {
    await writer.flush();
    flushed += 1;
  };
  const [first, second] = [flush(), flush()];
  expect(writes).toEqual([2]);
  await nextTurn();
  expect(flushed).toBe(0);
  await end();
  await Promise.all([first, second]);
  expect(flushed).toBe(2);
  fill(writer, 3);
  expect(writes).toEqual([2]);
});

test("a flush waits for what was there, and not for what comes meanwhile", async () => {
  const writer = open(createBufferPool({ buffers: 8 }), pad);
  fill(writer, 2);
  const flushed = writer.flush();
  fill(writer, 3);
  expect(writes).toEqual([2, 2]);
  await end();
  fill(writer, 2);
  await flushed;
  expect(writes).toEqual([2, 2]);
});

test("who waits for a buffer does not wait for more to come", async () => {
  const writer = open(createBufferPool({ buffers: 8 }), pad);
  fill(writer, 2);
  const isReady = writer.ready();
  expect(writes).toEqual([1]);
  await end();
  await isReady;
});
