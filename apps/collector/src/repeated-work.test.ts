import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { clockUnder } from "./replicas/lease.ts";
import { repeatWork } from "./repeated-work.ts";

const HOUR_MS = 3_600_000;

function start(options: { readonly hourUtc?: number; readonly isHeld?: () => boolean; readonly fail?: boolean } = {}) {
  const clock = createFakeClock(Date.UTC(2026, 0, 1, 12));
  const doneAt: string[] = [];
  const under = clockUnder({ isHeld: options.isHeld ?? (() => true) }, clock);
  const work = repeatWork({ clock: under, log: silentLog }, {
    everyMs: HOUR_MS, failure: "it failed", ...(options.hourUtc === undefined ? {} : { hourUtc: options.hourUtc }),
    work: async () => {
      doneAt.push(new Date(clock.now()).toISOString().slice(8, 13));
      if (options.fail) throw new Error("no luck");
    },
  });
  return { clock, doneAt, work };
}

test("is done each period, though it failed, until it is closed", async () => {
  const { clock, doneAt, work } = start({ fail: true });
  await clock.advance(2 * HOUR_MS);
  await work.close();
  await clock.advance(2 * HOUR_MS);
  expect(doneAt).toEqual(["01T13", "01T14"]);
});

test("is done in its hour only, once a day", async () => {
  const { clock, doneAt, work } = start({ hourUtc: 3 });
  await clock.advance(48 * HOUR_MS);
  await work.close();
  expect(doneAt).toEqual(["02T03", "03T03"]);
});

test("with an hour or without one is left to the replica that holds the lease", async () => {
  const started = [start({ isHeld: () => false }), start({ isHeld: () => false, hourUtc: 3 })];
  for (const { clock, work } of started) {
    await clock.advance(24 * HOUR_MS);
    await work.close();
  }
  expect(started.map(({ doneAt }) => doneAt)).toEqual([[], []]);
});

test("is never done twice at once, and closing waits for what is under way, which is told to end", async () => {
  const clock = createFakeClock();
  const steps: string[] = [];
  const work = repeatWork({ clock, log: silentLog }, {
    everyMs: HOUR_MS, failure: "it failed",
    work: async (stopped) => {
      steps.push("begins");
      await Promise.resolve();
      steps.push(stopped.aborted ? "is stopped" : "ends");
    },
  });
  const first = work.run();
  work.runSoon();
  await first;
  await work.close();
  expect(steps).toEqual(["begins", "ends", "begins", "is stopped"]);
});
