import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { silentReport } from "./switch-report.ts";
import { createSwitchReporter } from "./switch-reporter.ts";

const IP = "10.0.0.3";

function open(kept: ReadonlyMap<string, string> = new Map()) {
  const clock = createFakeClock();
  const stored = new Map(kept);
  const events: ProbeEvent[] = [];
  const world = { clock, stored, events, isDiskFull: false };
  const reporter = createSwitchReporter({
    clock, log: silentLog,
    store: { all: () => new Map(stored), save: (ip, problem) => void stored.set(ip, problem), remove: (ip) => void stored.delete(ip) },
    publisher: {
      publish(more, state) {
        if (world.isDiskFull) return false;
        state?.();
        events.push(...more);
        return true;
      },
      publishAnyway: () => undefined,
    },
  });
  return Object.assign(world, { reporter });
}
const answering = { ...silentReport(IP, ""), answers: true, problem: undefined };

describe("reports of switches", () => {
  test("are published once while they say the same, and each hour again while the switch answers", async () => {
    const { reporter, events, clock } = open();
    reporter.report(answering);
    reporter.report(answering);
    expect([events.length, reporter.answers(IP)]).toEqual([1, true]);
    await clock.advance(3_600_000);
    reporter.report(answering);
    expect(events).toHaveLength(2);
    for (let n = 0; n < 3; n += 1) {
      reporter.report(silentReport(IP, "the password is wrong"));
      await clock.advance(3_600_000);
    }
    expect([events.length, reporter.answers(IP)]).toEqual([3, false]);
  });

  test("go on after a restart: what is wrong is not reported again, and a switch that is no longer polled is taken back", () => {
    const world = open(new Map([[IP, "the password is wrong"]]));
    world.reporter.report(silentReport(IP, "the password is wrong"));
    expect(world.events).toEqual([]);
    world.isDiskFull = true;
    world.reporter.keepOnly([]);
    expect(world.stored.size).toBe(1);
    world.isDiskFull = false;
    world.reporter.keepOnly([]);
    expect([world.stored.size, world.events.map(({ data }) => data)]).toEqual([0, [silentReport(IP, "")]]);
  });
});
