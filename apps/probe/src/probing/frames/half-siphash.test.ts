import { expect, test } from "vitest";
import { createHashKey, halfSipHash } from "./half-siphash.ts";

/** Key 00 … 07, input 00 01 02 …, as the reference code's own test has it. */
const KEY = { k0: 0x03020100, k1: 0x07060504 };

test("gives what the reference code gives for whole words", () => {
  const bytes = (value: number) => [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];
  expect(bytes(halfSipHash(KEY, []))).toEqual([0xa9, 0x35, 0x9f, 0x5b]);
  expect(bytes(halfSipHash(KEY, [0x03020100]))).toEqual([0x2a, 0x6e, 0x46, 0x89]);
});

test("another key or another word gives another number", () => {
  const values = new Set<number>();
  for (let n = 0; n < 10_000; n += 1) values.add(halfSipHash(KEY, [n, 7])).add(halfSipHash(createHashKey(() => n / 10_000), [1, 2]));
  expect(values.size).toBeGreaterThan(19_990);
});
