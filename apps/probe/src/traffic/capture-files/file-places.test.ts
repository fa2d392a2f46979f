import { assert, constantFrom, float, integer, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { createFilePlaces, partOf } from "./file-places.ts";

const MEBI = 1024 * 1024;
const START = 1_700_000_000_000;

describe("the part of a file in which a time lies", () => {
  /** Frames of 1,000 octets, a millisecond apart, each up to so many late or early. */
  function noted(frames: number, jitterMs: number, seed: number) {
    const places = createFilePlaces();
    const times = Array.from({ length: frames }, (_, n) => START + n + ((n * 7919 + seed) % (2 * jitterMs + 1)) - jitterMs);
    for (const [n, at] of times.entries()) places.add(200 + n * 1000, at);
    return { places: places.encode(), times };
  }

  test("has every frame of it, in order or not, and little else", () => {
    const times = record({ at: float({ min: 0, max: 1, noNaN: true }), lengthMs: integer({ min: 0, max: 4000 }), jitter: constantFrom(0, 3, 900), seed: integer({ min: 0, max: 1e6 }) });
    assert(property(times, ({ at, lengthMs, jitter, seed }) => {
      const frames = 12_000;
      const file = noted(frames, jitter, seed);
      const from = START + Math.floor(at * frames);
      const part = partOf(file.places, { from, to: from + lengthMs });
      const isIn = (n: number) => part !== null && 200 + n * 1000 >= part.from && (part.to === null || 200 + n * 1000 < part.to);
      for (const [n, time] of file.times.entries()) if (time >= from && time <= from + lengthMs) expect(isIn(n)).toBe(true);
      if (part !== null) expect((part.to ?? frames * 1000) - part.from).toBeLessThan((lengthMs + 2 * jitter) * 1000 + 3 * MEBI);
    }), { numRuns: 60 });
  });

  test("is none before and behind what is there, and goes on to the end of a file that may grow", () => {
    const { places } = noted(5000, 0, 0);
    expect(partOf(places, { from: 0, to: START - 1 })).toBeNull();
    expect(partOf(places, { from: START + 5000, to: START + 6000 })).toBeNull();
    expect(partOf(places, { from: START, to: START })).toEqual({ from: 200, to: 200 + 1049 * 1000 });
    expect(partOf(places, { from: START + 4999, to: START + 9999 })).toMatchObject({ to: null });
    expect(partOf(createFilePlaces().encode(), { from: 0, to: 1e15 })).toBeNull();
    expect(partOf(Uint8Array.of(1, 2, 3), { from: 0, to: 1e15 })).toBeNull();
  });

  test("takes no more memory for a file of any length", () => {
    const places = createFilePlaces();
    for (let n = 0; n < 100_000; n += 1) places.add(n * MEBI, START + n);
    const encoded = places.encode();
    expect(encoded.length).toBeLessThanOrEqual(4096 * 24);
    const part = partOf(encoded, { from: START + 70_000, to: START + 70_010 });
    expect(part?.from).toBeLessThanOrEqual(70_000 * MEBI);
    expect(part?.to).toBeGreaterThan(70_010 * MEBI);
    expect((part?.to ?? 0) - (part?.from ?? 0)).toBeLessThan(200 * MEBI);
  });
});
