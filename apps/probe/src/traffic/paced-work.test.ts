import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createPacedWork } from "./paced-work.ts";

const HOUR_MS = 3_600_000;

/** How long the pace rests. */
async function restOf(clock: ReturnType<typeof createFakeClock>, pace: () => Promise<boolean>): Promise<number> {
  const from = clock.monotonic();
  const state = { isOver: false };
  const resting = pace().finally(() => (state.isOver = true));
  await clock.advance(0);
  for (let n = 0; !state.isOver && n < 100_000; n += 1) await clock.advance(1);
  await resting;
  return clock.monotonic() - from;
}

test("rests four times as long as it worked, and not for the time in which there was nothing to do", async () => {
  const clock = createFakeClock();
  const { begin, pace } = createPacedWork({ load: () => 0, clock });
  expect(await restOf(clock, pace)).toBe(0);
  await clock.leap(10);
  expect(await restOf(clock, pace)).toBe(40);
  await clock.leap(60_000);
  begin();
  expect(await restOf(clock, pace)).toBe(0);
  await clock.leap(10);
  expect(await restOf(clock, pace)).toBe(40);
});

test("rests for some seconds at most, however long a piece took", async () => {
  const clock = createFakeClock();
  const { pace } = createPacedWork({ load: () => 0, clock });
  await clock.leap(8 * HOUR_MS);
  expect(await restOf(clock, pace)).toBe(10_000);
});

test("while there is much to do it goes on now and then, and not at all while there is more than can be done", async () => {
  const clock = createFakeClock();
  let load = 0.7;
  const { pace } = createPacedWork({ load: () => load, clock });
  expect([await restOf(clock, pace), await restOf(clock, pace)]).toEqual([200, 200]);
  load = 0.9;
  clock.after(60_000, () => (load = 0.2));
  const rested = await restOf(clock, pace);
  expect(rested).toBeGreaterThanOrEqual(60_000);
  expect(rested).toBeLessThanOrEqual(60_100);
});
