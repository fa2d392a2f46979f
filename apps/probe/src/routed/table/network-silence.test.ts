import { expect, test } from "vitest";
import { createNetworkSilence } from "./network-silence.ts";

test("a network where nobody answers is in doubt for ten minutes, and then believed to be gone, until somebody answers", () => {
  const silence = createNetworkSilence();
  const at = (now: number) => [silence.isInDoubt("10.9.0.0/24", now), silence.isBelieved("10.9.0.0/24", now)];
  expect(at(0)).toEqual([false, false]);
  silence.begin("10.9.0.0/24", 1000);
  silence.begin("10.9.0.0/24", 500_000);
  expect(at(600_000)).toEqual([true, false]);
  expect(at(601_000)).toEqual([false, true]);
  expect([silence.isInDoubt("10.8.0.0/24", 600_000), silence.isBelieved("10.8.0.0/24", 601_000)]).toEqual([false, false]);
  silence.end("10.9.0.0/24");
  expect(at(700_000)).toEqual([false, false]);
});
