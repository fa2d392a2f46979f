import { DnsThreat, type ProbeEvent } from "@lanthorn/contract/uplink";
import { alertIdOf, createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOngoingStore } from "../ongoing/ongoing-store.ts";
import { createPublisher } from "../queue/publisher.ts";
import { toAlertNotice } from "../traffic/alert-notice.ts";
import type { DnsFinding } from "./finding.ts";
import { createDnsThreats, type DnsThreats } from "./threats.ts";
import { ThreatData } from "./threat.ts";

const FINDING: DnsFinding = {
  mode: "passive", campaign: "example.net", category: "tunnel", action: "reported", severity: "high", times: 40, at: Date.UTC(2026, 0, 1), clientIp: "10.0.0.5", serverIp: "10.0.0.1",
  name: "abc.t.example.net", type: "TXT", samples: ["abc.t.example.net"], reason: "many names", feed: "", lists: [], policy: "", blockedRecord: null, listedAt: null,
  techniques: ["T1071.004"], packet: Uint8Array.of(1, 2, 3),
};

let db: Database.Database;
let clock: ReturnType<typeof createFakeClock>;
let events: ProbeEvent[];
let threats: DnsThreats;
const open = () => {
  threats = createDnsThreats({
    publisher: createPublisher({ db, outbox: { append: (more) => events.push(...more) }, log: silentLog, what: "threats in DNS" }), store: createOngoingStore(db, "dns_threats", ThreatData),
    macAt: (ip) => (ip === "10.0.0.5" ? "02:00:00:00:00:05" : ""), isInternal: (ip) => ip.startsWith("10."), clock,
  });
};
beforeEach(() => {
  [db, clock, events] = [new Database(":memory:"), createFakeClock(), []];
  open();
});
afterEach(() => {
  threats.close();
  db.close();
});
const report = (change: Partial<DnsFinding> = {}) => threats.report({ ...FINDING, at: clock.now(), ...change });
const data = () => events.map((event) => DnsThreat.parse(event.data));

test("a client and a campaign are one event when it begins, with their count while it goes on, and when it is over", async () => {
  report();
  expect(data()).toMatchObject([{
    mode: "passive", client_ip: "10.0.0.5", client_mac: "02:00:00:00:00:05", campaign: "example.net", category: "tunnel", count: 40, state: "seen", packets: ["AQID"], mitre_techniques: ["T1071.004"],
  }]);
  for (let minute = 0; minute < 9; minute += 1) {
    await clock.advance(60_000);
    report({ times: 10, samples: [`n${minute}.t.example.net`] });
  }
  expect(events).toHaveLength(1);
  await clock.advance(100_000);
  expect(data().slice(1)).toMatchObject([{ state: "seen", count: 130 }]);
  expect(data()[1]?.sample_names).toHaveLength(8);
  await clock.advance(1_800_000);
  expect(data().slice(2)).toMatchObject([{ state: "ended", count: 130 }]);
  expect(new Set(data().map(({ incident_id: id }) => id)).size).toBe(1);
});

test("goes on over a restart, and gets frames kept for it under its alert's id", () => {
  report();
  threats.close();
  open();
  report();
  expect(events).toHaveLength(1);
  const probeId = createId();
  const [event] = events;
  expect(event && toAlertNotice(event, probeId)).toMatchObject({
    alert_id: alertIdOf(probeId, data()[0]?.incident_id ?? ""), device: { macs: ["02:00:00:00:00:05"], ips: ["10.0.0.5"] }, peer: { macs: [], ips: ["10.0.0.1"] }, packets: ["AQID"],
  });
});

test("a thousand forged clients of one campaign are few, and what others ask the site's servers is none", () => {
  for (let n = 0; n < 1000; n += 1) report({ clientIp: `10.1.${n >> 8}.${n & 255}` });
  expect(events).toHaveLength(65);
  expect(data().at(-1)).toMatchObject({ client_ip: "", campaign: "example.net" });
  report({ clientIp: "198.51.100.7", campaign: "example.org" });
  report({ clientIp: "198.51.100.7", serverIp: "198.51.100.1", campaign: "example.com" });
  expect(data().slice(65)).toMatchObject([{ campaign: "example.com" }]);
});

test("texts of the wire leave as events that the contract takes", () => {
  report({ campaign: "x".repeat(2000), name: `\u0000${"y".repeat(1000)}`, samples: Array.from({ length: 40 }, () => "z\u202e".repeat(300)), reason: "\n".repeat(4000), packet: new Uint8Array(9000) });
  expect(DnsThreat.safeParse(events[0]?.data)).toMatchObject({ success: true });
});
