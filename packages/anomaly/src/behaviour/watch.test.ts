import { describe, expect, test } from "vitest";
import { BEGIN, BOUNDS, copyOut, DAY, finish, flow, HOUR, live, open } from "./testing/site.ts";

describe("a watch for behaviour", () => {
  test("explains what a device sent to a host that nobody uses, once, with its usual amount and the last hours", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 9 });
    expect(anomalies).toEqual([]);
    live(watch, { from: 9, to: 9 + 10 / 24 });
    copyOut(watch, 9);
    expect(anomalies).toHaveLength(1);
    const [anomaly] = anomalies;
    const first = anomaly?.features[0];
    expect(anomaly).toMatchObject({ device: "laptop", kind: "exfiltration", technique: "T1048", since: BEGIN + 9 * DAY + 10 * HOUR, isWithinBudget: true });
    expect(anomaly?.peers[0]).toBe("198.51.100.9");
    expect(first).toMatchObject({ name: "bytes_to_rare" });
    expect(first?.observed).toBeGreaterThan(7.9e9);
    expect(first?.expectedHigh).toBeLessThan(1e8);
    expect(Math.max(...anomaly?.series.values ?? [])).toBeGreaterThan(7.9e9);
    // The site as a whole: as many flows as ever, and more sent.
    const site = new Map(anomaly?.siteSeries.map(({ name, observed }) => [name, observed]));
    expect(site.get("bytes_out")).toBeGreaterThan(7.9e9);
    expect([...site.keys()]).not.toContain("flows");
  });

  test("says nothing while it learns, and nothing of an hour in which frames were lost", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 3 + 10 / 24 });
    copyOut(watch, 3);
    live(watch, { from: 3.5, to: 9 + 10 / 24 });
    watch.distrustHour();
    copyOut(watch, 9);
    expect(anomalies).toEqual([]);
    expect([...watch.states()]).toMatchObject([{ device: "laptop", lifecycle: "active", firstAt: BEGIN, group: "uses tcp/443" }]);
  });

  test("finds a scan and a first session of administration", () => {
    const { anomalies, watch } = open({ bounds: { ...BOUNDS, alertsADay: 5 } });
    live(watch, { from: 0, to: 9 + 10 / 24 });
    const at = BEGIN + 9 * DAY + 10 * HOUR;
    for (let host = 0; host < 200; host += 1) watch.flow(flow(at + 1 + host, { responder: `10.0.0.${host}`, isResponderInside: true, port: "tcp/445", bytesOut: 0, bytesIn: 0, hasFailed: true, region: "" }));
    for (let minutes = 5; minutes <= 60; minutes += 5) watch.advance(at + minutes * 60);
    live(watch, { from: 9 + 11 / 24, to: 11 + 10 / 24 });
    expect(anomalies).toMatchObject([{ kind: "scan", technique: "T1046" }]);
    watch.flow(flow(BEGIN + 11 * DAY + 10 * HOUR + 1, { responder: "10.0.0.9", isResponderInside: true, port: "tcp/3389", region: "" }));
    live(watch, { from: 11 + 10.1 / 24, to: 11 + 12 / 24 });
    expect(anomalies[1]).toMatchObject({ kind: "admin_protocol", technique: "T1021", news: ["10.0.0.9 tcp/3389"] });
  });

  test("goes on where it was saved, learns damaged entries anew, and counts them", () => {
    const first = open();
    live(first.watch, { from: 0, to: 9 });
    const saved = [...first.watch.save()];
    const { anomalies, watch } = open();
    expect(saved.every(watch.restore)).toBe(true);
    live(watch, { from: 9, to: 9 + 10 / 24 });
    copyOut(watch, 9);
    expect(anomalies).toMatchObject([{ siteSeries: expect.arrayContaining([expect.objectContaining({ name: "bytes_out" })]) }]);
    for (const damage of [(bytes: Uint8Array) => bytes.subarray(0, 10), (bytes: Uint8Array) => bytes.map((byte, index) => (index === 9 ? byte ^ 1 : byte)), () => new Uint8Array(3)]) {
      const again = open();
      expect(saved.some((entry) => again.watch.restore({ ...entry, bytes: damage(entry.bytes) }))).toBe(false);
      expect(again.watch.counts()).toMatchObject({ damaged: saved.length, otherVersion: 0, devices: 0 });
    }
    const other = open();
    expect(saved.some((entry) => other.watch.restore({ ...entry, bytes: entry.bytes.map((byte, index) => (index === 0 ? byte + 1 : byte)) }))).toBe(false);
    expect(other.watch.counts()).toMatchObject({ damaged: 0, otherVersion: saved.length, devices: 0 });
  });

  test("saves each thing once, however busy the site is meanwhile", () => {
    const { watch } = open();
    const names = ["laptop", "desk", "nas"];
    live(watch, { from: 0, to: 4 }, names);
    const keys: string[] = [];
    for (const { kind, key } of watch.save()) {
      keys.push(`${kind} ${key}`);
      if (keys.length > 1000) break;
      for (const originator of names) for (let peer = 0; peer < 7; peer += 1) watch.flow(flow(BEGIN + 4 * DAY, { originator, responder: `203.0.113.${peer}` }));
    }
    expect(keys).toEqual([...new Set(keys)]);
  });

  test("sends no more alerts a day than it may, and none of what somebody said is normal", () => {
    const { anomalies, watch } = open();
    watch.accept([{ scope: { device: "nas" }, kind: "exfiltration", until: null }]);
    const names = ["laptop", "desk", "nas"];
    live(watch, { from: 0, to: 9 + 10 / 24 }, names);
    const at = BEGIN + 9 * DAY + 10 * HOUR;
    names.forEach((originator, index) => watch.flow(flow(at + 60, { originator, responder: `198.51.100.${index}`, bytesOut: 8e9 })));
    for (let minutes = 5; minutes <= 60; minutes += 5) watch.advance(at + minutes * 60);
    // The site and each device three times, and those of which something would be said.
    expect(finish(watch)).toBe(3 * 4 + 3 + 1);
    expect(anomalies.map(({ device, isWithinBudget }) => [device, isWithinBudget])).toHaveLength(2);
    expect(anomalies.filter(({ isWithinBudget }) => isWithinBudget)).toHaveLength(1);
    expect(anomalies.some(({ device }) => device === "nas")).toBe(false);
  });

  test("survives clocks that step by years and back, figures that are none, and more devices than it follows", () => {
    const { anomalies, watch } = open();
    live(watch, { from: 0, to: 8 });
    for (const at of [4e9, BEGIN, NaN, Infinity, BEGIN + 8 * DAY]) watch.flow(flow(at));
    for (let device = 0; device < 50; device += 1) watch.flow(flow(BEGIN + 8 * DAY + device, { originator: `device-${device}` }));
    expect(watch.counts()).toMatchObject({ devices: 20, clockSteps: 3 });
    expect(watch.counts().evicted).toBeGreaterThanOrEqual(30);
    expect(anomalies).toEqual([]);
  });

  test("compares a frozen device without learning it, and forgets one that is reset", () => {
    const { watch } = open();
    live(watch, { from: 0, to: 8 });
    watch.freeze("laptop", true, 0);
    const before = [...watch.states()];
    live(watch, { from: 8, to: 9 });
    expect([...watch.states()]).toEqual(before.map((state) => ({ ...state, lifecycle: "frozen", lifecycleSince: BEGIN + 8 * DAY - HOUR / 12 })));
    watch.reset("laptop");
    expect([...watch.states()]).toEqual([]);
  });
});
