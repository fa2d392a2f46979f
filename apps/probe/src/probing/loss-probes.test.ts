import { describe, expect, test } from "vitest";
import { createLossProbes } from "./loss-probes.ts";

function make() {
  const outcomes: (readonly [askedAt: number, isAnswered: boolean])[] = [];
  const lossProbes = createLossProbes({ patienceMs: 100, onOutcome: (...outcome) => void outcomes.push(outcome) });
  return { lossProbes, outcomes };
}

describe("loss probes", () => {
  test("ask whom has answered, in turns, and nobody again within 20 ms", () => {
    const { lossProbes } = make();
    expect(lossProbes.next(0)).toBeNull();
    lossProbes.note(3, 22, true);
    lossProbes.note(5, 80, true);
    expect(new Set([lossProbes.next(1)?.host, lossProbes.next(1)?.host])).toEqual(new Set([3, 5]));
    for (const [host, port] of [[3, 22], [5, 80]] as const) lossProbes.answered(host, port);
    expect([lossProbes.next(20), lossProbes.next(21)].map((probe) => probe?.port ?? null)).toEqual([null, expect.any(Number)]);
  });

  test("tell what was answered, once, and what was lost when its time is over", () => {
    const { lossProbes, outcomes } = make();
    lossProbes.note(3, 22, true);
    lossProbes.next(10);
    lossProbes.answered(3, 23);
    lossProbes.answered(4, 22);
    lossProbes.answered(3, 22);
    lossProbes.answered(3, 22);
    expect(outcomes).toEqual([[10, true]]);
    lossProbes.next(40);
    expect([lossProbes.next(139), outcomes.length]).toEqual([null, 1]);
    expect([lossProbes.next(140)?.host, outcomes[1]]).toEqual([3, [40, false]]);
  });

  test("prefer an open port to the closed one that answered first", () => {
    const { lossProbes } = make();
    lossProbes.note(3, 1, false);
    lossProbes.note(3, 2, false);
    expect(lossProbes.next(0)?.port).toBe(1);
    lossProbes.answered(3, 1);
    lossProbes.note(3, 22, true);
    lossProbes.note(3, 23, true);
    expect(lossProbes.next(50)?.port).toBe(22);
  });
});
