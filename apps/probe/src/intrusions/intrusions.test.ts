import { IdsAlert, type ProbeEvent } from "@lanthorn/contract/uplink";
import { alertIdOf, createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOngoingStore } from "../ongoing/ongoing-store.ts";
import { createPublisher } from "../queue/publisher.ts";
import { toAlertNotice } from "../traffic/alert-notice.ts";
import type { Finding } from "./finding.ts";
import { createHomeNetworks } from "./home-networks.ts";
import { IntrusionData } from "./intrusion.ts";
import { createIntrusions, type Intrusions } from "./intrusions.ts";

const RULE: Finding["rule"] = {
  gid: 1, id: 7, revision: 1, message: "A rule", category: "Attack", className: "attack", severity: "medium", priority: 2, techniques: ["T1046"],
};
const FINDING: Finding = {
  engine: "lanthorn", times: 1, at: Date.UTC(2026, 0, 1), rule: RULE, source: { ip: "10.0.0.5", port: 4000 }, destination: { ip: "198.51.100.1", port: 80 }, protocol: "tcp",
  application: "http", direction: "to-server", wouldBlock: false, target: null, matched: [{ buffer: "http.uri", offset: 0, length: 5, bytes: Buffer.from("/gate") }],
  fields: { hostname: "evil.example" }, packet: Uint8Array.of(1, 2, 3),
};

let db: Database.Database;
let clock: ReturnType<typeof createFakeClock>;
let events: ProbeEvent[];
let isFull: boolean;
let intrusions: Intrusions;
beforeEach(() => {
  db = new Database(":memory:");
  clock = createFakeClock();
  [events, isFull] = [[], false];
  open();
});
afterEach(() => {
  intrusions.close();
  db.close();
});

function open(suppressionOf: (finding: Finding) => string | null = () => null): void {
  const outbox = {
    append(more: readonly ProbeEvent[]) {
      if (isFull) throw new Error("the disk is full");
      events.push(...more);
    },
  };
  intrusions = createIntrusions({
    publisher: createPublisher({ db, outbox, log: silentLog, what: "intrusions" }), store: createOngoingStore(db, "intrusions", IntrusionData),
    isInternal: createHomeNetworks([], () => []), suppressionOf, clock,
  });
}
const report = (change: Partial<Finding> = {}, rule: Partial<Finding["rule"]> = {}) =>
  intrusions.report({ ...FINDING, at: clock.now(), ...change, rule: { ...RULE, ...rule } });
const data = () => events.map((event) => IdsAlert.parse(event.data));

test("the first match of a rule about a host is published at once, and many more of it are one event with their count", async () => {
  report();
  expect(data()).toMatchObject([{
    state: "seen", signature_id: 7, subject_ip: "10.0.0.5", peer_ip: "198.51.100.1", count: 1, engines: ["lanthorn"], fields: { hostname: "evil.example" },
    matched: [{ buffer: "http.uri", bytes: "L2dhdGU=" }], packets: ["AQID"], application: "http", direction: "to-server",
  }]);
  for (let n = 0; n < 20; n += 1) {
    report({ source: { ip: "10.0.0.5", port: 5000 + n } });
    await clock.advance(1000);
  }
  expect(events).toHaveLength(1);
  await clock.advance(600_000);
  expect(data().slice(1)).toMatchObject([{ state: "seen", count: 21 }]);
  await clock.advance(1_800_000);
  expect(data().slice(2)).toMatchObject([{ state: "ended", count: 21 }]);
  expect(new Set(data().map(({ incident_id: id }) => id)).size).toBe(1);
  expect(intrusions.counts()).toMatchObject({ findings: 21, open: 0 });
});

test("the same signature and flow from both engines is one, whichever is first and however often", async () => {
  for (const engine of ["suricata", "lanthorn", "suricata", "lanthorn", "lanthorn"] as const) report({ engine });
  // Answers have their ends the other way round.
  report({ engine: "suricata", source: FINDING.destination, destination: FINDING.source, direction: "to-client" });
  await clock.advance(31_000);
  expect(data().map(({ count, engines }) => [count, engines])).toEqual([[1, ["suricata"]], [3, ["suricata", "lanthorn"]]]);
});

describe("it is about the host of the site", () => {
  const inside = { ip: "10.0.0.5", port: 1 };
  const outside = { ip: "198.51.100.1", port: 2 };
  const other = { ip: "10.0.0.6", port: 3 };
  test.each<[string, Partial<Finding>, string]>([
    ["that sends", { source: inside, destination: outside }, inside.ip],
    ["that is sent to", { source: outside, destination: inside }, inside.ip],
    ["that asked, of two", { source: inside, destination: other }, inside.ip],
    ["that asked, where the answer matched", { source: inside, destination: other, direction: "to-client" }, other.ip],
    ["that is attacked, by the rule's word", { source: inside, destination: other, target: "destination" }, other.ip],
    ["none: who sends", { source: outside, destination: { ip: "203.0.113.1", port: 1 } }, outside.ip],
    ["none: without addresses", { source: { ip: "", port: 0 }, destination: { ip: "", port: 0 } }, ""],
  ])("%s", (_, ends, subject) => {
    report(ends);
    expect(data()[0]?.subject_ip).toBe(subject);
  });
});

test("matches that come together count as many", async () => {
  report({ times: 5 });
  report({ engine: "suricata", times: 7 });
  report({ source: { ip: "10.0.0.5", port: 9 }, times: 3 });
  await clock.advance(31_000);
  expect(data().map(({ count }) => count)).toEqual([5, 10]);
});

test("networks that are named are the site's, and no others", () => {
  const isHome = createHomeNetworks(["198.51.100.0/24", "2001:db8::/32", "203.0.113.7"], () => ["10.0.0.0/8"]);
  expect(["198.51.100.9", "2001:db8::5", "203.0.113.7", "203.0.113.8", "10.0.0.1", "x"].map(isHome)).toEqual([true, true, true, false, false, false]);
  let subnets = ["192.0.2.0/24"];
  const isOwn = createHomeNetworks([], () => subnets);
  expect(["192.0.2.1", "10.0.0.1", "fe80::1", "203.0.113.8"].map(isOwn)).toEqual([true, true, true, false]);
  subnets = ["203.0.113.0/24"];
  expect(["192.0.2.1", "203.0.113.8"].map(isOwn)).toEqual([false, true]);
});

test("what gets worse is said again, after a pause", async () => {
  report();
  report({}, { severity: "critical" });
  expect(events).toHaveLength(1);
  await clock.advance(31_000);
  expect(data()[1]).toMatchObject({ severity: "critical", count: 2 });
});

test("a restart goes on with what was open, and says its end", async () => {
  report();
  intrusions.close();
  open();
  report();
  await clock.advance(1_800_000 + 1000);
  expect(data().map(({ state, count }) => [state, count])).toEqual([["seen", 1], ["seen", 2], ["ended", 2]]);
});

test("what cannot be written down is not begun, and is said so", () => {
  isFull = true;
  expect(report()).toBe(false);
  isFull = false;
  expect(report()).toBe(true);
  expect(data()).toMatchObject([{ count: 1 }]);
});

test("what somebody has suppressed is counted, and not reported", () => {
  intrusions.close();
  open(({ rule }) => (rule.id === 7 ? "one" : null));
  report();
  report({ times: 4 });
  report({}, { id: 8 });
  expect(data().map(({ signature_id: id }) => id)).toEqual([8]);
  expect(intrusions.counts()).toMatchObject({ findings: 6, suppressed: new Map([["one", 5]]) });
});

test("who forges senders, or triggers every rule, makes few events and no more memory", async () => {
  for (let n = 0; n < 5000; n += 1) report({ source: { ip: `10.1.${n >> 8}.${n & 255}`, port: 1 } });
  expect(data()).toHaveLength(33);
  expect(data().at(-1)).toMatchObject({ subject_ip: "", peer_ip: "" });
  await clock.advance(600_000);
  expect(data().at(-1)).toMatchObject({ subject_ip: "", count: 5000 - 32 });
  for (let id = 100; id < 5100; id += 1) report({}, { id });
  expect(intrusions.counts().open).toBeLessThan(300);
  expect(intrusions.counts().leftOut).toBeGreaterThan(4500);
});

test("texts that hosts or rules chose are bounded and without control characters", () => {
  report({ fields: { url: `/\u0000\u001b[2J${"x".repeat(2000)}` }, matched: [{ buffer: "b".repeat(100), offset: 0, length: 9999, bytes: Buffer.alloc(9999) }], packet: Buffer.alloc(9999) },
    { message: `a\u0000${"y".repeat(900)}` });
  expect(data()[0]?.fields?.["url"]).not.toContain("\u001b");
});

test("its alert's id is known from the incident, its end keeps no frames", async () => {
  report();
  await clock.advance(1_800_000 + 1000);
  const probeId = createId();
  const [first, last] = [events[0] as ProbeEvent, events.at(-1) as ProbeEvent];
  expect(toAlertNotice(first, probeId)).toMatchObject({
    alert_id: alertIdOf(probeId, data()[0]?.incident_id ?? ""), device: { ips: ["10.0.0.5"] }, peer: { ips: ["198.51.100.1"] }, packets: ["AQID"],
  });
  expect(toAlertNotice(last, probeId)).toBe(null);
});
