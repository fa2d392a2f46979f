import { describe, expect, test } from "vitest";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { createFrameCursor, encodeFrameBlock, type FrameBlock } from "./frame-block.ts";

const frames = [
  { bytes: Uint8Array.from({ length: 60 }, (_, at) => at), seconds: 1_700_000_000, nanoseconds: 999_999_999, isOutgoing: true },
  { bytes: Uint8Array.of(1), seconds: 0xffff_ffff, nanoseconds: 0, wireLength: 70_000 },
  { bytes: new Uint8Array(0), seconds: 0, nanoseconds: 1 },
];

function walk(block: FrameBlock) {
  const cursor = createFrameCursor(block);
  const seen = [];
  while (cursor.next()) {
    const { bytes, offset, length, wireLength, seconds, nanoseconds, isOutgoing } = cursor;
    seen.push({ bytes: Uint8Array.from(bytes.subarray(offset, offset + length)), wireLength, seconds, nanoseconds, isOutgoing });
  }
  return seen;
}

describe("a cursor", () => {
  test("gives every frame of a block, one after the other", () => {
    const expected = frames.map(({ bytes, seconds, nanoseconds, wireLength = bytes.length, isOutgoing = false }) => ({ bytes, wireLength, seconds, nanoseconds, isOutgoing }));
    expect(walk(encodeFrameBlock(frames))).toEqual(expected);
    expect(walk(encodeFrameBlock([]))).toEqual([]);
  });

  test("goes from block to block, in the same memory and in another", () => {
    const [one, other] = [encodeFrameBlock(frames), encodeFrameBlock(frames.slice(0, 1))];
    const cursor = createFrameCursor();
    const counts = [one, other, one].map((block) => {
      let count = 0;
      for (cursor.start(block); cursor.next();) count += 1;
      return count;
    });
    expect(counts).toEqual([3, 1, 3]);
  });

  test("never leaves a damaged block", () => {
    const whole = encodeFrameBlock(frames);
    for (const damaged of seededMutations(Uint8Array.from(whole.bytes), 5000, 7)) {
      const bytes = Buffer.from(damaged);
      const cursor = createFrameCursor({ bytes, offset: 0, end: whole.end, frames: 3 });
      let count = 0;
      while (cursor.next()) {
        count += 1;
        expect(cursor.offset).toBeGreaterThanOrEqual(0);
        expect(cursor.offset + cursor.length).toBeLessThanOrEqual(bytes.length);
      }
      expect(count).toBeLessThanOrEqual(3);
    }
  });
});
