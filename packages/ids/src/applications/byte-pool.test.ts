import { expect, test } from "vitest";
import { giveBytes, takeBytes } from "./byte-pool.ts";
import { GrowingBytes } from "./growing-bytes.ts";

const bytesOf = (text: string) => Buffer.from(text, "latin1");
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

test("what is given back is used again by who wants about as much", () => {
  for (const [octets, length] of [[1, 256], [257, 320], [1460, 1536], [102_400, 114_688], [131_072, 131_072], [131_073, 131_073]] as const) expect(takeBytes(octets)).toHaveLength(length);
  const piece = takeBytes(5000);
  giveBytes(piece);
  expect(takeBytes(2000)).not.toBe(piece);
  expect(takeBytes(4900)).toBe(piece);
  expect(takeBytes(4900)).not.toBe(piece);
});

test("of what nobody uses a mebibyte is kept, and nothing of a length that nobody asks for", () => {
  const odd = new Uint8Array(1000);
  giveBytes(odd);
  expect(takeBytes(1000)).not.toBe(odd);
  const pieces = Array.from({ length: 16 }, () => takeBytes(128 * 1024));
  for (const piece of pieces) giveBytes(piece);
  const again = new Set(Array.from({ length: 16 }, () => takeBytes(128 * 1024)));
  expect(pieces.filter((piece) => again.has(piece)).length).toBeLessThanOrEqual(8);
});

test("bytes that grow leave what was seen of them as it was, and are no part of what comes after them", () => {
  const held: number[] = [];
  const grow = (text: string) => {
    const bytes = new GrowingBytes(100_000, (octets) => held.push(octets));
    bytes.add(bytesOf(text));
    return bytes;
  };
  const first = grow("a".repeat(250));
  const { view } = first;
  first.add(bytesOf("b".repeat(50_000)));
  const second = grow("c".repeat(200));
  expect([textOf(view), second.view.length]).toEqual(["a".repeat(250), 200]);
  expect([first.view.length, textOf(first.view.subarray(240, 260))]).toEqual([50_250, `${"a".repeat(10)}${"b".repeat(10)}`]);
  for (const bytes of [first, second]) bytes.release();
  expect(held.reduce((sum, octets) => sum + octets, 0)).toBe(0);
  const third = grow("d");
  expect([textOf(third.view), third.room]).toEqual(["d", 99_999]);
});
