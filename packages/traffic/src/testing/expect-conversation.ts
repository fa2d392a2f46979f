/** What must hold of every conversation, however its bytes come. For tests only. */
import * as fc from "fast-check";
import { expect } from "vitest";
import type { InspectionLimits } from "../inspection-limits.ts";
import { play, playSegments, type Segment, segmentsOf, type Turn, withoutTimes } from "./conversation.ts";

/**
 * Expects the same messages with a cut at every byte, byte by byte, doubled, and shuffled within a few segments; from damaged bytes no
 * throw, and no more memory than is given.
 */
export function expectSameHoweverCut(turns: readonly Turn[], limits?: Partial<InspectionLimits>): void {
  const whole = withoutTimes(play(turns, {}, limits).messages);
  for (const size of [1, 2, 3, 7, 64, 536]) {
    const played = play(turns, { size, initial: [0xffff_fff0, 5] }, limits);
    expect({ size, messages: withoutTimes(played.messages) }).toEqual({ size, messages: whole });
    expect(played.counters.heldBytes).toBe(0);
  }
  for (const [index, { side, bytes }] of turns.entries()) {
    const step = Math.max(1, Math.floor(bytes.length / 25));
    for (let at = 1; at < bytes.length; at += step) {
      const cut = [...turns.slice(0, index), { side, bytes: bytes.subarray(0, at) }, { side, bytes: bytes.subarray(at) }, ...turns.slice(index + 1)];
      expect({ index, at, messages: withoutTimes(play(cut, {}, limits).messages) }).toEqual({ index, at, messages: whole });
    }
  }
  fc.assert(fc.property(fc.integer({ min: 20, max: 700 }), fc.infiniteStream(fc.nat(1000)), (size, numbers) => {
    const random = () => numbers.next().value as number;
    const shuffled = shuffleWithinTurns(segmentsOf(turns, { size }), random);
    expect(withoutTimes(playSegments(shuffled, limits).messages)).toEqual(whole);
  }), { numRuns: 8 });
}

/** Swaps neighbors of one side, and repeats some: as the network does. */
function shuffleWithinTurns(segments: readonly Segment[], random: () => number): Segment[] {
  const out = [...segments];
  for (let at = 3; at + 2 < out.length; at += 1) {
    const [one, two] = [out[at] as Segment, out[at + 1] as Segment];
    const isSameTurn = one.side === two.side && one.payload.length > 0 && two.payload.length > 0;
    if (isSameTurn && random() % 3 === 0) [out[at], out[at + 1]] = [two, one];
    else if (one.payload.length > 0 && random() % 5 === 0) {
      out.splice(at, 0, one);
      at += 1;
    }
  }
  return out;
}

/** Expects damaged and cut bytes to throw nothing and to keep the bound, and the memory to be given back. */
export function expectHarmless(turns: readonly Turn[], mutations: (bytes: Uint8Array, count: number, seed: number) => Iterable<Uint8Array>, count = 80): void {
  const limits = { heldPerStream: 32 * 1024, pendingPerSide: 32 * 1024, total: 64 * 1024 };
  const start = performance.now();
  for (const [index, { side, bytes }] of turns.entries()) {
    for (const damaged of mutations(bytes, count, 7 + index)) {
      const played = play([...turns.slice(0, index), { side, bytes: damaged }, ...turns.slice(index + 1)], { size: 300 }, limits);
      // What one segment brings may stand above the bound until it is looked at.
      if (played.peakBytes > limits.total + 1024) expect.fail(`${played.peakBytes} bytes held`);
      if (played.counters.heldBytes !== 0) expect.fail(`${played.counters.heldBytes} bytes left`);
    }
  }
  expect(performance.now() - start).toBeLessThan(60_000);
}
