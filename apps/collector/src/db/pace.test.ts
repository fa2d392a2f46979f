import { pause, systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

test("a round that several share keeps the next one away, and a round of one does not", async () => {
  const pace = createPace(25);
  const beganAt = performance.now();
  pace.began(2);
  await pace.next();
  // A timer may fire a millisecond early.
  expect(performance.now() - beganAt).toBeGreaterThan(20);
  pace.began(2);
  pace.began(1);
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 1000) setImmediate(count);
  };
  setImmediate(count);
  await pace.next();
  // It waited for the turn of the loop alone: a timer would have let thousands pass.
  expect(turns).toBeLessThan(3);
  turns = 1000;
});

test("rest after a shared round for as long as it took, and not after one of somebody alone", async () => {
  const pace = createPace(1);
  for (const [count, least] of [[2, 50], [1, 0]] as const) {
    pace.began(count);
    const beganAt = performance.now();
    await pause(systemClock, 60);
    const tookMs = performance.now() - beganAt;
    const endedAt = performance.now();
    pace.ended();
    await pace.next();
    expect(performance.now() - endedAt).toBeGreaterThanOrEqual(least === 0 ? 0 : Math.min(tookMs, 250) - 2);
  }
});
