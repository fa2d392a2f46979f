import { describe, expect, test } from "vitest";
import { type BeaconFinding, type BeaconWatch, createBeaconWatch } from "./watch.ts";

const DAY = 86_400;
const BOUNDS = { maxPairs: 50, maxDevices: 10 };

/** Connections every five minutes, a fifth more or less, as a device's own or of a peer that never answers. */
function contact(watch: BeaconWatch, peer: string, days: { from: number; to: number }, answered = true): BeaconFinding[] {
  const findings: BeaconFinding[] = [];
  for (let at = days.from * DAY, turn = 0; at < days.to * DAY; turn += 1) {
    const finding = watch.observe({ at, device: "laptop", peer, bytes: 500 + (turn % 7), answered });
    if (finding) findings.push(finding);
    at += 300 * (1 + 0.2 * Math.sin(turn * 2.4));
  }
  return findings;
}

describe("a watch for beacons", () => {
  test("reports a regular peer once, where the device had none like it before", () => {
    const watch = createBeaconWatch(BOUNDS);
    contact(watch, "ntp", { from: 0, to: 1 });
    const findings = contact(watch, "c2", { from: 5, to: 7 });
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ device: "laptop", peer: "c2", firstAt: 5 * DAY, devicesOfPeer: 1 });
    expect(findings[0]?.score.intervalSeconds).toBeGreaterThan(240);
  });

  test("goes on where it was saved, and leaves out what is damaged", () => {
    const first = createBeaconWatch(BOUNDS);
    contact(first, "ntp", { from: 0, to: 1 });
    expect(contact(first, "c2", { from: 5, to: 5.05 })).toEqual([]);
    const saved = [...first.save()];
    expect(saved.map(({ kind }) => kind)).toEqual(["beacon_device", "beacon_peer", "beacon_peer", "pair", "pair"]);
    const again = createBeaconWatch(BOUNDS);
    expect(saved.map(again.restore)).toEqual(saved.map(() => true));
    expect(contact(again, "c2", { from: 5.06, to: 7 })).toMatchObject([{ peer: "c2", firstAt: 5 * DAY }]);
    const damaged = createBeaconWatch(BOUNDS);
    expect(saved.map((entry) => damaged.restore({ ...entry, bytes: entry.bytes.map((byte, index) => (index === 9 ? byte ^ 1 : byte)) }))).toEqual(saved.map(() => false));
    expect([damaged.counts().pairs, damaged.restore({ kind: "device", key: "x", bytes: new Uint8Array() })]).toEqual([0, null]);
  });

  test("is silent about what a device did from its first days, what never answers, and a service that moved", () => {
    const watch = createBeaconWatch(BOUNDS);
    expect(contact(watch, "cloud", { from: 0, to: 6 })).toEqual([]);
    expect(contact(watch, "cloud-moved", { from: 6, to: 8 })).toEqual([]);
    expect(contact(watch, "gone", { from: 8, to: 10 }, false)).toEqual([]);
  });

  test("follows no more pairs than it may, and counts those that gave way", () => {
    const watch = createBeaconWatch(BOUNDS);
    for (let peer = 0; peer < 80; peer += 1) watch.observe({ at: peer, device: `device-${peer}`, peer: `peer-${peer}`, bytes: 1, answered: true });
    expect(watch.counts()).toEqual({ pairs: 50, evicted: 30 });
  });

  test("survives a clock that steps back and by years, and figures that are none", () => {
    const watch = createBeaconWatch(BOUNDS);
    contact(watch, "ntp", { from: 10, to: 11 });
    contact(watch, "ntp", { from: 2, to: 3 });
    expect(watch.observe({ at: 4e9, device: "laptop", peer: "ntp", bytes: 1, answered: true })).toBeNull();
    for (const at of [NaN, Infinity]) expect(watch.observe({ at, device: "laptop", peer: "ntp", bytes: 1, answered: true })).toBeNull();
    expect(watch.counts().pairs).toBe(1);
  });

  test("goes on after a clock that was ahead is set right: neither device nor pair stays in the future", () => {
    const watch = createBeaconWatch(BOUNDS);
    contact(watch, "ntp", { from: 0, to: 4 });
    contact(watch, "c2", { from: 4, to: 4.1 });
    for (const peer of ["ntp", "c2", "later"]) watch.observe({ at: 400 * DAY, device: "laptop", peer, bytes: 1, answered: true });
    watch.observe({ at: 400 * DAY, device: "newcomer", peer: "ntp", bytes: 1, answered: true });
    expect(contact(watch, "c2", { from: 5, to: 7 })).toMatchObject([{ peer: "c2", firstAt: 5 * DAY }]);
    expect(contact(watch, "later", { from: 5, to: 7 })).toMatchObject([{ peer: "later" }]);
    // What it did in its first days is still usual.
    expect(contact(watch, "ntp", { from: 5, to: 9 })).toEqual([]);
  });

  test("takes up a beacon after a gap of days", () => {
    const watch = createBeaconWatch(BOUNDS);
    contact(watch, "ntp", { from: 0, to: 1 });
    expect(contact(watch, "c2", { from: 4, to: 4.05 })).toEqual([]);
    expect(contact(watch, "c2", { from: 10, to: 12 })).toMatchObject([{ peer: "c2" }]);
  });

  test("forgets a device with its pairs", () => {
    const watch = createBeaconWatch(BOUNDS);
    contact(watch, "ntp", { from: 0, to: 1 });
    watch.forget("laptop");
    expect([watch.counts().pairs, [...watch.save()].map(({ kind }) => kind)]).toEqual([0, ["beacon_peer"]]);
  });
});
