import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createFrameCursor, encodeClose } from "./close-frame.ts";

/** A frame whose payload has so many bytes. */
function frame(length: number, isMasked: boolean): Buffer {
  const extended = length < 126 ? Buffer.alloc(0) : length < 65_536 ? Buffer.alloc(2) : Buffer.alloc(8);
  if (extended.length === 2) extended.writeUInt16BE(length);
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
  const short = extended.length === 0 ? length : extended.length === 2 ? 126 : 127;
  return Buffer.concat([Buffer.from([0x82, short | (isMasked ? 0x80 : 0)]), extended, Buffer.alloc(isMasked ? 4 : 0), Buffer.alloc(length, 0x7f)]);
}

test("boundaries are found however the bytes are cut", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const frames = Array.from({ length: 1 + random(5) }, () => frame([0, 1, 125, 126, 127, 65_535, 65_536][random(7)] as number, random(2) === 0));
    const bytes = Buffer.concat(frames);
    const ends = new Set(frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length));
    const cursor = createFrameCursor();
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + 1 + random(random(2) === 0 ? 5 : 100_000));
      const rest = createFrameCursorAt(bytes, at);
      const next = [...ends].find((end) => end > at) ?? bytes.length;
      if (!ends.has(at) && at > 0) expect(rest.untilBoundary(piece)).toBe(Math.min(piece.length, next - at));
      cursor.push(piece);
      at += piece.length;
      expect([at, cursor.atBoundary()]).toEqual([at, ends.has(at)]);
    }
  }
});

function createFrameCursorAt(bytes: Uint8Array, at: number) {
  const cursor = createFrameCursor();
  cursor.push(bytes.subarray(0, at));
  return cursor;
}

test("a Close frame has its code and at most 123 bytes of reason", () => {
  expect(encodeClose(4401, "no")).toEqual(Buffer.from([0x88, 4, 0x11, 0x31, 0x6e, 0x6f]));
  expect(encodeClose(4401, "x".repeat(500)).length).toBe(2 + 125);
});
