import { describe, expect, test } from "vitest";
import { BEGIN, copyOut, DAY, finish, flow, HOUR, live, open } from "./testing/site.ts";
import type { BehaviourWatch } from "./watch.ts";

/** What is saved of one is restored in another. */
function restart(watch: BehaviourWatch) {
  const next = open({ bounds: { maxDevices: 20, maxPairs: 100, alertsADay: 5 } });
  expect([...watch.save()].every(next.watch.restore)).toBe(true);
  return next;
}

/** Ten days of a laptop whose peers are in no known region. */
function ordinary() {
  const { watch } = open();
  for (let at = BEGIN; at < BEGIN + 10 * DAY; at += HOUR / 12) watch.flow(flow(at, { region: "" }));
  finish(watch);
  return watch;
}

describe("a clock that is behind, and is set right days later", () => {
  test("makes nothing of an hour a change that stays: it goes on, is not learned, and drifts after three days in which it was watched", () => {
    const before = open();
    live(before.watch, { from: 0, to: 9.5 });
    // The host boots, and its clock is three days behind for some hours.
    const { anomalies, watch } = restart(before.watch);
    live(watch, { from: 6.5, to: 7 + 10 / 24 });
    copyOut(watch, 7);
    expect(anomalies.map(({ kind }) => kind)).toEqual(["exfiltration"]);
    const hours = watch.describe("laptop")?.hours;
    for (let hour = 10 * 24 + 11; hour < 10 * 24 + 18; hour += 1) {
      for (let minutes = 0; minutes < 60; minutes += 5) watch.flow(flow(BEGIN + hour * HOUR + minutes * 60, { responder: "198.51.100.9", bytesOut: 1e9 }));
    }
    finish(watch);
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "active", hours, openSince: BEGIN + 10 * DAY + 10 * HOUR });
    // By now it is as regular as a beacon, too.
    expect(anomalies.map(({ kind }) => kind)).toEqual(["exfiltration", "beacon"]);
    for (let at = BEGIN + 10 * DAY + 18 * HOUR; at < BEGIN + 13 * DAY + 12 * HOUR; at += HOUR / 12) watch.flow(flow(at, { responder: "198.51.100.9", bytesOut: 1e9 }));
    finish(watch);
    expect(watch.describe("laptop")?.lifecycle).toBe("drifted");
  });

  test("makes no region news that was known for hours", () => {
    const { anomalies, watch } = restart(ordinary());
    const visit = (from: number, to: number, region = "DE") => {
      for (let at = BEGIN + from * DAY; at < BEGIN + to * DAY; at += HOUR / 12) watch.flow(flow(at, { region, ...(region === "DE" ? {} : { responder: "198.51.100.1" }) }));
      finish(watch);
    };
    visit(2, 3);
    visit(11, 12);
    visit(12, 12 + 2 / 24, "BR");
    expect(anomalies).toEqual([]);
    visit(13, 17.5);
    visit(17.5, 17.6, "BR");
    visit(17.6, 20);
    expect(anomalies).toEqual([]);
    visit(20, 20.1, "AR");
    expect(anomalies.map(({ kind, news }) => [kind, news])).toEqual([["new_region", ["AR"]]]);
  });

  test("makes no beacon older than it was seen, and a conversation that began before is no time of the clock as it goes now", () => {
    const { anomalies, watch } = restart(ordinary());
    const contact = (from: number, to: number) => {
      for (let at = BEGIN + from * DAY, turn = 0; at < BEGIN + to * DAY; turn += 1) {
        watch.flow(flow(at, { region: "", responder: "198.51.100.5", bytesOut: 500 + (turn % 7), bytesIn: 200 }));
        at += 300 * (1 + 0.2 * Math.sin(turn * 2.4));
      }
    };
    contact(10, 10 + 2 / 24);
    // Began by the old clock, and ends by the one that is right.
    watch.flow(flow(BEGIN + 15 * DAY, { startedAt: BEGIN + 2 * DAY, region: "" }));
    watch.flow(flow(BEGIN + 15 * DAY, { startedAt: BEGIN + 400 * DAY, responder: "198.51.100.5", region: "" }));
    contact(15, 17);
    finish(watch);
    const beacon = anomalies.find(({ kind }) => kind === "beacon");
    expect(beacon?.since).toBeGreaterThan(BEGIN + 15 * DAY - 3 * HOUR);
    expect(beacon?.since).toBeLessThan(BEGIN + 15 * DAY);
  });
});

test("days in which the probe was off are none in which something went on", () => {
  const before = open();
  live(before.watch, { from: 0, to: 9 + 10 / 24 });
  copyOut(before.watch, 9);
  const { watch } = restart(before.watch);
  watch.flow(flow(BEGIN + 14 * DAY, { responder: "198.51.100.9" }));
  for (let minutes = 5; minutes <= 60; minutes += 5) watch.advance(BEGIN + 14 * DAY + minutes * 60);
  finish(watch);
  expect(watch.describe("laptop")).toMatchObject({ lifecycle: "active", openSince: BEGIN + 14 * DAY - HOUR });
});

test("a clock that is years ahead for a moment leaves what goes on as old as it is", () => {
  const { watch } = open();
  live(watch, { from: 0, to: 9 + 10 / 24 });
  copyOut(watch, 9);
  const { openSince } = watch.describe("laptop") ?? {};
  watch.flow(flow(4e9, { originator: "other" }));
  watch.flow(flow(BEGIN + 9 * DAY + 11 * HOUR + 1));
  expect([openSince, watch.describe("laptop")?.openSince]).toEqual([BEGIN + 9 * DAY + 10 * HOUR, BEGIN + 9 * DAY + 10 * HOUR + 1]);
});

test("an hour of which something was left out ends with it where the clock steps to the begin of another", () => {
  const { watch } = open();
  live(watch, { from: 0, to: 9 + 9.5 / 24 });
  const hours = watch.describe("laptop")?.hours ?? 0;
  watch.noteSeen("flows", 0, 1);
  live(watch, { from: 12, to: 12 + 1.1 / 24 });
  expect(watch.describe("laptop")?.hours).toBe(hours + 1);
});
