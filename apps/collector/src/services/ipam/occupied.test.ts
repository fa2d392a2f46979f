import { array, assert, asyncProperty, integer } from "fast-check";
import { expect, test } from "vitest";
import { findFree, type Interval, mergeIntervals } from "./store/occupied.ts";

async function* streamOf(intervals: readonly Interval[]): AsyncGenerator<Interval> {
  yield* intervals.toSorted((a, b) => (a.first < b.first ? -1 : 1));
}

/** Looks at every place, one after the other. */
function findByLooking({ first, last }: Interval, bits: number, taken: readonly Interval[]): bigint | null {
  const size = 1n << BigInt(bits);
  for (let at = first; at + size - 1n <= last; at += 1n) {
    const isFree = taken.every((interval) => interval.last < at || interval.first > at + size - 1n);
    if (at % size === 0n && isFree) return at;
  }
  return null;
}

const interval = integer({ min: 0, max: 80 }).chain((first) => integer({ min: 0, max: 9 }).map((more) => ({
  first: BigInt(first), last: BigInt(first + more),
})));

test("the next free place is the first that looking at every place finds", async () => {
  const range = integer({ min: 0, max: 40 }).chain((first) => integer({ min: 0, max: 40 }).map((more) => ({
    first: BigInt(first), last: BigInt(first + more),
  })));
  await assert(asyncProperty(range, integer({ min: 0, max: 5 }), array(interval, { maxLength: 25 }), async (within, bits, taken) => {
    expect(await findFree(within, bits, streamOf(taken))).toBe(findByLooking(within, bits, taken));
  }), { seed: 3, numRuns: 2000 });
});

test("several orders become one", async () => {
  await assert(asyncProperty(array(array(interval, { maxLength: 10 }), { maxLength: 4 }), async (lists) => {
    const merged: bigint[] = [];
    for await (const { first } of mergeIntervals(lists.map(streamOf))) merged.push(first);
    expect(merged).toEqual(lists.flat().map(({ first }) => first).toSorted((a, b) => (a < b ? -1 : 1)));
  }), { seed: 3, numRuns: 300 });
});
