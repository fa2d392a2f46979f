import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "./lines.ts";

function readPieces(text: string, sizes: readonly number[], maxBytes = 100) {
  const lines: string[] = [];
  let tooLong = 0;
  const reader = createLineReader(maxBytes, (line) => lines.push(line.toString()), () => (tooLong += 1));
  const bytes = Buffer.from(text);
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const end = at + (sizes[index % sizes.length] ?? 1);
    const piece = Buffer.from(bytes.subarray(at, end));
    reader.read(piece);
    piece.fill(0);
    at = end;
  }
  return { lines, tooLong, pending: reader.pending };
}

test("lines are the same whatever pieces they come in", () => {
  fc.assert(fc.property(fc.array(fc.string({ maxLength: 30 })), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (texts, sizes) => {
    const text = texts.map((one) => one.replaceAll("\n", "")).join("\n");
    const whole = text.split("\n");
    const rest = whole.pop() ?? "";
    const expected = whole.filter((line) => line !== "");
    expect(readPieces(text, sizes)).toEqual({ lines: expected, tooLong: 0, pending: Buffer.byteLength(rest) });
  }));
});

test("a line that is too long is passed over, and costs no more memory than the limit", () => {
  const long = "x".repeat(101);
  for (const size of [1, 7, 1000]) expect(readPieces(`a\n${long}\nb\n${long}`, [size])).toEqual({ lines: ["a", "b"], tooLong: 2, pending: 0 });
  expect(readPieces(`${"x".repeat(100)}\n`, [9])).toMatchObject({ lines: ["x".repeat(100)], tooLong: 0 });
});
