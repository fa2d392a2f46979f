import { expect, test } from "vitest";
import { medianOf, type SweepRun, summarize } from "./sweep-summary.ts";

const run = (seconds: number, found: number, peers: SweepRun["peers"]): SweepRun => ({
  own: { early: found, seconds, cpuSeconds: seconds / 2, frames: seconds * 1000 }, found, truth: 10, peers,
});
const peer = (seconds: number, found = 10) => ({ found, false: 0, seconds });

test("the median of an even count is between the two in the middle", () => {
  expect([medianOf([3]), medianOf([9, 1, 2]), medianOf([4, 1, 3, 10])]).toEqual([3, 2, 3.5]);
});

test("a row has median and worst of ours and of each peer, and compares with the fastest peer that found all", () => {
  const row = summarize({ prefix: 16, live: "dense" }, [
    run(1, 10, { quick: peer(0.5), whole: peer(2), slow: peer(4) }), run(3, 9, { quick: peer(0.5, 8), whole: peer(2.5), slow: peer(4) }),
    run(2, 10, { quick: peer(0.5), whole: peer(3), slow: peer(9) }),
  ]);
  expect(row).toMatchObject({
    prefix: 16, live: "dense", truth: 10, found: 9, seconds: 2, worst_seconds: 3, repeats: 3, frames: 2000, worst_frames: 3000,
    cpu_seconds: 1, worst_cpu_seconds: 1.5, fastest_peer: "whole", worst_ratio: 1.2,
  });
  expect(row.peers).toEqual({
    quick: { found: 8, false: 0, seconds: 0.5, worst_seconds: 0.5 }, whole: { found: 10, false: 0, seconds: 2.5, worst_seconds: 3 },
    slow: { found: 10, false: 0, seconds: 4, worst_seconds: 9 },
  });
});

test("without a peer that found all there is nothing to compare with", () => {
  expect(summarize({ prefix: 24, live: "late" }, [run(1, 10, { one: peer(1, 9) })])).toMatchObject({ fastest_peer: null, worst_ratio: null });
  expect(summarize({ prefix: 24, live: "late" }, [run(1, 10, {})])).toMatchObject({ repeats: 1, worst_ratio: null, peers: {} });
});
