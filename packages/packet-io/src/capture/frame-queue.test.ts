import { describe, expect, test } from "vitest";
import { BATCH_FRAMES, createFrameQueue } from "./frame-queue.ts";

describe("the queue before a slow reader", () => {
  test("gives frames back in order, in batches of at most 32, as copies", () => {
    const queue = createFrameQueue();
    const source = Buffer.alloc(4);
    for (let number = 0; number < 70; number += 1) {
      source.writeUInt32BE(number);
      queue.push(number * 10, source, 4, 60);
    }
    expect(queue.length).toBe(70);
    const batches = [queue.take(), queue.take(), queue.take(), queue.take()];
    expect(batches.map((batch) => batch.length)).toEqual([BATCH_FRAMES, BATCH_FRAMES, 6, 0]);
    const numbers = batches.flat().map((frame) => new DataView(frame.bytes.buffer, frame.bytes.byteOffset, 4).getUint32(0));
    expect(numbers).toEqual(Array.from({ length: 70 }, (_, number) => number));
    expect(batches.flat().every((frame, number) => frame.atMicroseconds === number * 10 && frame.wireLength === 60)).toBe(true);
  });

  test("refuses frames beyond 8192, and takes them again when there is room", () => {
    const queue = createFrameQueue();
    const push = () => queue.push(0, Buffer.alloc(60), 60, 60);
    for (let number = 0; number < 8192; number += 1) expect(push()).toBe(true);
    expect(push()).toBe(false);
    queue.take();
    expect(push()).toBe(true);
    expect(queue.length).toBe(8192 - BATCH_FRAMES + 1);
  });

  test("refuses frames beyond 8 MiB", () => {
    const queue = createFrameQueue();
    const large = Buffer.alloc(65_536);
    let taken = 0;
    while (queue.push(0, large, large.length, large.length)) taken += 1;
    expect(taken).toBe(128);
    queue.clear();
    expect(queue.length).toBe(0);
    expect(queue.push(0, large, large.length, large.length)).toBe(true);
  });

  test("keeps large frames apart, so that a small one that is kept holds no more than 8 KiB", () => {
    const queue = createFrameQueue();
    for (const length of [60, 1514, 9000, 60, 262_144]) queue.push(0, Buffer.alloc(length, 7), length, length);
    const frames = queue.take();
    expect(frames.map((frame) => frame.bytes.length)).toEqual([60, 1514, 9000, 60, 262_144]);
    expect(frames.filter((frame) => frame.bytes.length < 2048).every((frame) => frame.bytes.buffer.byteLength <= 8192)).toBe(true);
    expect(frames.every((frame) => frame.bytes.every((byte) => byte === 7))).toBe(true);
  });
});
