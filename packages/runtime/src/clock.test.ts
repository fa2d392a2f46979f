import { describe, expect, test } from "vitest";
import { createFakeClock } from "./clock.ts";

const HOUR_MS = 3_600_000;

/** A clock with two periodic tasks and one that is called once, and at which times each was called. */
function tasksOf() {
  const clock = createFakeClock(0);
  const called: string[] = [];
  const note = (what: string) => () => void called.push(`${what} ${clock.now()}`);
  clock.every(500, note("often"));
  clock.every(1700, note("rarely"));
  clock.after(1000, note("once"));
  return { clock, called, note };
}

describe("a fake clock", () => {
  test("that advances calls each task at each time it is due, in order", async () => {
    const { clock, called } = tasksOf();
    await clock.advance(1700);
    expect(called).toEqual(["often 500", "often 1000", "once 1000", "often 1500", "rarely 1700"]);
  });

  test("that leaps calls once, at its end, what fell due meanwhile, and keeps the periods", async () => {
    const { clock, called } = tasksOf();
    await clock.leap(HOUR_MS);
    expect([clock.now(), clock.monotonic()]).toEqual([HOUR_MS, HOUR_MS]);
    expect(called).toEqual(["often", "once", "rarely"].map((what) => `${what} ${HOUR_MS}`));
    called.length = 0;
    await clock.advance(1000);
    // The 2118th period of 1700 ms ends there.
    expect(called).toEqual([`often ${HOUR_MS + 500}`, `rarely ${HOUR_MS + 600}`, `often ${HOUR_MS + 1000}`]);
  });

  test("that leaps calls what its tasks ask for at once, and not what they ask for later", async () => {
    const { clock, called, note } = tasksOf();
    clock.after(10, () => {
      clock.after(0, note("at once"));
      clock.after(1, note("later"));
    });
    await clock.leap(100);
    expect(called).toEqual(["at once 100"]);
    await clock.leap(1);
    expect(called).toEqual(["at once 100", "later 101"]);
  });

  test("that leaps to the time of a periodic task calls it there, and then a period later", async () => {
    const { clock, called } = tasksOf();
    await clock.leap(500);
    await clock.leap(499);
    expect(called).toEqual(["often 500"]);
    await clock.leap(1);
    expect(called).toEqual(["often 500", "often 1000", "once 1000"]);
  });
});
