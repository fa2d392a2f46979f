import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findBytes } from "./find-bytes.ts";
import { createPatternSet, type Pattern } from "./pattern-set.ts";
import { lowerCase } from "./window-choice.ts";

/** Few letters, so that patterns are found often and lie in each other. */
const letters = fc.constantFrom(0x61, 0x41, 0x62, 0x42, 0x00, 0xe1, 0xc1);
const pattern: fc.Arbitrary<Pattern> = fc.record({
  bytes: fc.array(letters, { minLength: 1, maxLength: 9 }).map((bytes) => Uint8Array.from(bytes)),
  ignoreCase: fc.boolean(),
  offset: fc.constantFrom(0, 0, 0, 1, 5),
  depth: fc.constantFrom(Infinity, Infinity, 10, 12),
  endsWith: fc.constantFrom(false, false, false, true),
});
const buffers = fc.array(letters, { maxLength: 60 }).map((bytes) => Uint8Array.from(bytes));

function isThere(buffer: Uint8Array, at: number, { bytes, ignoreCase }: Pick<Pattern, "bytes" | "ignoreCase">): boolean {
  const fold = (byte = -1) => (ignoreCase ? lowerCase(byte) : byte);
  return at + bytes.length <= buffer.length && bytes.every((byte, index) => fold(buffer[at + index]) === fold(byte));
}

/** Every place, one after the other. */
function slowlyFound(patterns: readonly Pattern[], buffer: Uint8Array): readonly number[] {
  return patterns.flatMap((one, index) => {
    const isHere = Array.from({ length: buffer.length }, (_, at) => at).some((at) => {
      const end = at + one.bytes.length;
      return isThere(buffer, at, one) && at >= one.offset && end <= one.depth && (!one.endsWith || end === buffer.length);
    });
    return isHere ? [index] : [];
  });
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function anywhere(text: string): Pattern {
  return { bytes: bytesOf(text), ignoreCase: false, offset: 0, depth: Infinity, endsWith: false };
}

describe("many patterns", () => {
  test("are found where a search of every place finds them, however often a set is used", () => {
    fc.assert(fc.property(fc.array(pattern, { maxLength: 40 }), fc.array(buffers, { maxLength: 4 }), (patterns, several) => {
      const set = createPatternSet(patterns);
      for (const buffer of several) {
        const count = set.find(buffer);
        expect([...set.found.subarray(0, count)].toSorted((one, other) => one - other)).toEqual(slowlyFound(patterns, buffer));
      }
    }), { numRuns: 2000 });
  });

  test("of all lengths are found at the very beginning and end", () => {
    for (let length = 1; length <= 8; length += 1) {
      const set = createPatternSet([anywhere("abcdefgh".slice(0, length)), anywhere("stuvwxyz".slice(8 - length))]);
      expect(set.find(bytesOf("abcdefgh..stuvwxyz"))).toBe(2);
      expect(set.find(bytesOf("bcdefgh..stuvwxy"))).toBe(0);
    }
  });

  test("by the ten thousand take little memory and short lists, though all begin alike", () => {
    const set = createPatternSet(Array.from({ length: 10_000 }, (_, index) => anywhere(`User-Agent: Mozilla/4.0 (compatible; ${(index * 7919).toString(36)}bot)`)));
    expect(set.size).toBeLessThan(1_500_000);
    expect(set.longestList).toBeLessThan(32);
    expect(set.find(bytesOf(`GET / HTTP/1.1\r\nUser-Agent: Mozilla/4.0 (compatible; ${(4321 * 7919).toString(36)}bot)\r\n`))).toBe(1);
    expect(set.found[0]).toBe(4321);
  });
});

test("one needle is found at its first place between two bounds", () => {
  const needle = fc.record({ bytes: fc.array(letters, { maxLength: 4 }), ignoreCase: fc.boolean() });
  fc.assert(fc.property(fc.array(letters, { maxLength: 400 }), needle, fc.nat(400), fc.nat(400), (letter, { bytes, ignoreCase }, one, other) => {
    const buffer = Uint8Array.from(letter);
    const [from, to] = [Math.min(one, other, buffer.length), Math.min(Math.max(one, other), buffer.length)];
    const sought = { bytes: Uint8Array.from(ignoreCase ? bytes.map(lowerCase) : bytes), ignoreCase };
    const places = Array.from({ length: Math.max(0, to - bytes.length - from + 1) }, (_, index) => from + index);
    expect(findBytes(buffer, sought, from, to)).toBe(places.find((at) => isThere(buffer, at, sought)) ?? -1);
  }), { numRuns: 2000 });
});
