import { describe, expect, test } from "vitest";
import type { BehaviourWatch } from "./watch.ts";
import { BEGIN, copyOut, DAY, finish, flow, HOUR, live, open } from "./testing/site.ts";

const MANY = 8000;

describe("what is usual for a device", () => {
  test("is described by hour, with its hosts, ports and names, the most usual first", () => {
    const { watch } = open();
    expect(watch.describe("laptop")).toBeNull();
    for (let day = 0; day < 9; day += 1) {
      watch.query({ at: BEGIN + day * DAY, device: "laptop", name: "files.example", isMissing: false });
      watch.query({ at: BEGIN + day * DAY, device: "laptop", name: "nowhere.example", isMissing: true });
      live(watch, { from: day, to: day + 1 });
    }
    const known = watch.describe("laptop");
    expect(known).toMatchObject({ device: "laptop", lifecycle: "active", lifecycleSince: BEGIN + 7 * DAY + HOUR, firstAt: BEGIN, group: "uses tcp/443", openSince: null, driftUntil: null, isGroupKnown: false });
    const flows = known?.features.find(({ name }) => name === "flows");
    expect([flows?.workdays[10]?.usual, flows?.workdays[10]?.days, flows?.weekends[3]?.days]).toEqual([expect.closeTo(12, 3), 7, 2]);
    expect(flows?.workdays[3]?.usual).toBeCloseTo(1, 3);
    expect(flows?.workdays[10]?.expectedHigh).toBeGreaterThan(20);
    expect(flows?.highest).toBeGreaterThan(11);
    expect(known?.ports).toEqual([{ name: "uses tcp/443", share: expect.closeTo(1, 3) as number }]);
    expect(known?.peers).toHaveLength(7);
    expect(known?.peers[0]?.share).toBeGreaterThan(0.3);
    expect(known?.names).toEqual([{ name: "files.example", share: expect.closeTo(1 / 24, 1) as number }]);
  });

  test("comes back as it was saved, and a host of one hour is not more usual than one of each", () => {
    const { watch } = open();
    live(watch, { from: 0, to: 8 });
    for (let host = 0; host < 500; host += 1) watch.flow(flow(BEGIN + 8 * DAY + host, { responder: `192.0.2.${host}` }));
    live(watch, { from: 8 + 1 / 24, to: 9 });
    const known = watch.describe("laptop");
    expect(known?.peers.slice(0, 7).every(({ name }) => name.startsWith("203.0.113."))).toBe(true);
    const again = open();
    expect([...watch.save()].every(again.watch.restore)).toBe(true);
    expect(again.watch.describe("laptop")).toEqual(known);
  });

  test("is learned neither from an hour in which something unusual goes on, nor from one with lost frames", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 9 + 10 / 24 });
    copyOut(watch, 9);
    expect(anomalies).toHaveLength(1);
    expect(watch.describe("laptop")).toMatchObject({ openSince: BEGIN + 9 * DAY + 10 * HOUR });
    watch.flow(flow(BEGIN + 9 * DAY + 14 * HOUR + 1, { responder: "198.51.100.77" }));
    watch.distrustHour();
    live(watch, { from: 9 + 14.1 / 24, to: 10 });
    expect(watch.describe("laptop")?.peers.filter(({ name }) => name.startsWith("198.51.100."))).toEqual([]);
  });
});

test("an hour of which something was left out is compared and not learned", () => {
  const { anomalies, watch } = open();
  live(watch, { from: 0, to: 9 + 9 / 24 });
  const hours = () => watch.describe("laptop")?.hours ?? 0;
  const before = hours();
  watch.noteSeen("flows", 0, 1);
  live(watch, { from: 9 + 9 / 24, to: 9 + 10 / 24 });
  watch.noteSeen("flows", 0, 1);
  copyOut(watch, 9);
  expect([anomalies.map(({ kind }) => kind), hours() - before]).toEqual([["exfiltration"], 0]);
});

test("an hour of which a hundredth is missing is learned as any other, and one of which more is, is only compared and counted", () => {
  const { watch } = open();
  live(watch, { from: 0, to: 1 });
  const learns = (hour: number, what: "frames" | "flows", missed: number) => {
    const before = watch.describe("laptop")?.hours ?? 0;
    watch.noteSeen(what, 5000 - missed, 0);
    watch.noteSeen(what, 0, missed);
    live(watch, { from: 1 + hour / 24, to: 1 + (hour + 1) / 24 });
    watch.advance(BEGIN + DAY + (hour + 1) * HOUR);
    finish(watch);
    return (watch.describe("laptop")?.hours ?? 0) - before;
  };
  watch.advance(BEGIN + DAY);
  finish(watch);
  expect([learns(0, "frames", 50), learns(1, "frames", 51), learns(2, "flows", 50), learns(3, "flows", 51), learns(4, "frames", 0)]).toEqual([1, 0, 1, 0, 1]);
  expect(watch.counts()).toMatchObject({ comparedHours: 29, thinHours: 2, distrustedHours: 0 });
});

describe("a session of administration with a new host is no news later", () => {
  const admin = (watch: BehaviourWatch, day: number, hour: number) => watch.flow(flow(BEGIN + day * DAY + hour * HOUR + 1, { responder: "10.0.0.9", isResponderInside: true, port: "tcp/3389", region: "" }));
  /** What is said of the second session, after a first one at 11:00 of a day. */
  const second = ({ day, before = () => undefined, within = () => undefined }: { readonly day: number; readonly before?: (watch: BehaviourWatch) => void; readonly within?: (watch: BehaviourWatch) => void }) => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: day + 10 / 24 });
    before(watch);
    live(watch, { from: day + (watch.describe("laptop")?.openSince ? 11 : 10) / 24, to: day + 11 / 24 });
    admin(watch, day, 11);
    within(watch);
    live(watch, { from: day + 11.1 / 24, to: day + 13 / 24 });
    watch.freeze("laptop", false, 0);
    live(watch, { from: day + 13 / 24, to: 12 + 11 / 24 });
    const said = anomalies.length;
    admin(watch, 12, 11);
    live(watch, { from: 12 + 11.1 / 24, to: 12 + 13 / 24 });
    return anomalies.slice(said).map(({ kind }) => kind);
  };

  test("where the hour of the first was learned, and only then", () => {
    expect(second({ day: 5 })).toEqual([]);
    expect(second({ day: 5, within: (watch) => watch.distrustHour() })).toEqual(["admin_protocol"]);
    expect(second({ day: 5, within: (watch) => watch.noteSeen("flows", 0, 1) })).toEqual(["admin_protocol"]);
    expect(second({ day: 5, within: (watch) => watch.freeze("laptop", true, 0) })).toEqual(["admin_protocol"]);
    // A session while something else goes on, of which it was said already.
    expect(second({ day: 9, before: (watch) => copyOut(watch, 9) })).toEqual(["admin_protocol"]);
  });
});

describe("regions of peers", () => {
  const abroad = (day: number) => BEGIN + day * DAY + 10 * HOUR;
  const visit = (days: number) => {
    const { anomalies, watch } = open();
    const known = days === 0 ? "DE" : "";
    for (let at = BEGIN; at < BEGIN + 20 * DAY; at += HOUR / 12) watch.flow(flow(at, { region: at < BEGIN + days * DAY ? known : "DE" }));
    for (let turn = 0; turn < 3; turn += 1) watch.flow(flow(abroad(20) + turn, { region: "BR", responder: "198.51.100.1" }));
    live(watch, { from: 20 + 10.1 / 24, to: 20.5 });
    return anomalies.map(({ kind, news }) => [kind, news]);
  };

  test("are news where others are known for a week, and not when the first of them are known", () => {
    expect([visit(0), visit(10), visit(15)]).toEqual([[["new_region", ["BR"]]], [["new_region", ["BR"]]], []]);
  });
});

describe("a device's life", () => {
  test("goes on where it was before it was frozen: one of which little is known is still learned, and raises nothing meanwhile", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 2 });
    expect([watch.freeze("laptop", true, 0), watch.freeze("nobody", true, 0)]).toEqual([true, false]);
    const since = BEGIN + 2 * DAY - HOUR / 12;
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "frozen", lifecycleSince: since });
    live(watch, { from: 2, to: 2 + 10 / 24 });
    copyOut(watch, 2);
    watch.freeze("laptop", false, 0);
    expect([anomalies, watch.describe("laptop")?.lifecycle]).toEqual([[], "learning"]);
    live(watch, { from: 3, to: 10 });
    watch.freeze("laptop", true, 0);
    watch.freeze("laptop", false, 0);
    expect(watch.describe("laptop")?.lifecycle).toBe("active");
  });

  test("drifts after three days of something that stays, and is active again after two more", () => {
    const { watch } = open();
    live(watch, { from: 0, to: 9 });
    const states: string[] = [];
    for (let hour = 9 * 24; hour < 15 * 24; hour += 1) {
      const at = BEGIN + hour * HOUR;
      watch.flow(flow(at + 1, { responder: "198.51.100.9", bytesOut: 8e9 }));
      for (let minutes = 5; minutes <= 60; minutes += 5) watch.advance(at + minutes * 60);
      finish(watch);
      const { lifecycle, driftUntil } = watch.describe("laptop") ?? {};
      if (states.at(-1) !== lifecycle) states.push(lifecycle ?? "");
      expect(driftUntil !== null).toBe(lifecycle === "drifted");
    }
    expect(states).toEqual(["active", "drifted", "active"]);
  });

  test("begins anew after a reset of it or of all", () => {
    const { watch } = open();
    live(watch, { from: 0, to: 8 });
    expect([watch.reset("laptop"), watch.reset("laptop"), watch.describe("laptop")]).toEqual([true, false, null]);
    live(watch, { from: 8, to: 9 });
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "learning", firstAt: BEGIN + 8 * DAY });
    watch.resetAll();
    expect([[...watch.states()], [...watch.save()].filter(({ kind, key }) => kind !== "budget" && kind !== "regions" && key !== "")]).toEqual([[], []]);
    live(watch, { from: 9, to: 17 });
    expect(watch.describe("laptop")?.lifecycle).toBe("active");
  });
});

describe("whatever happens to a site", () => {
  test("a clock that was ahead for a while leaves no device in the future", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 8 });
    // A year ahead: a device is new there, and another is frozen; then the clock is set right.
    for (let minutes = 0; minutes < 180; minutes += 5) watch.flow(flow(BEGIN + 365 * DAY + minutes * 60, { originator: "newcomer" }));
    watch.freeze("laptop", true, 0);
    live(watch, { from: 8, to: 8.5 });
    watch.freeze("laptop", false, 0);
    live(watch, { from: 8.5, to: 20 }, ["laptop", "newcomer"]);
    expect([...watch.states()].map(({ device, lifecycle }) => `${device} ${lifecycle}`).toSorted()).toEqual(["laptop active", "newcomer active"]);
    for (const { firstAt, lifecycleSince } of watch.states()) expect(Math.max(firstAt, lifecycleSince)).toBeLessThan(BEGIN + 20 * DAY);
    expect(anomalies).toEqual([]);
  });

  test("what was saved while the clock was ahead is of now after a restart", () => {
    const ahead = open();
    live(ahead.watch, { from: 400, to: 402 });
    const { watch } = open();
    expect([...ahead.watch.save()].every(watch.restore)).toBe(true);
    live(watch, { from: 0, to: 9 });
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "active", firstAt: BEGIN });
  });

  test("a gap of days, as of a suspended probe, is neither compared nor learned, and nothing is said of what comes after", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 9.4 });
    const { hours } = watch.describe("laptop") ?? { hours: 0 };
    const { comparedHours } = watch.counts();
    live(watch, { from: 14.4, to: 15 });
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "active", hours: hours + 13 });
    expect(watch.counts()).toMatchObject({ clockSteps: 1, comparedHours: comparedHours + 13 });
    expect(anomalies).toEqual([]);
  });

  test("a device with another MAC address each day is a newcomer each day, raises nothing, and pushes out nobody of whom something is known", () => {
    const { anomalies, watch } = open();
    for (let day = 0; day < 40; day += 1) live(watch, { from: day, to: day + 1 }, ["laptop", `phone-${day}`]);
    expect(watch.describe("laptop")).toMatchObject({ lifecycle: "active", firstAt: BEGIN });
    expect(anomalies).toEqual([]);
    expect(watch.counts().devices).toBe(20);
  });

  test("of 8,000 devices an hour is compared a device at a time", () => {
    const { watch } = open({ bounds: { maxDevices: MANY, maxPairs: 100, alertsADay: 5 } });
    for (let device = 0; device < MANY; device += 1) watch.flow(flow(BEGIN + device / 10, { originator: `device-${device}` }));
    for (let minutes = 15; minutes <= 60; minutes += 5) watch.advance(BEGIN + minutes * 60);
    expect(finish(watch)).toBeGreaterThanOrEqual(3 * MANY);
    expect(watch.counts()).toMatchObject({ devices: MANY, evicted: 0, comparedHours: 1 });
    expect([...watch.save()].filter(({ kind }) => kind === "device")).toHaveLength(MANY + 1);
  });
});
