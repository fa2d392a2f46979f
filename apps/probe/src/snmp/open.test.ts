import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { silentLog, systemClock } from "@lanthorn/runtime";
import SqliteDatabase from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSnmpAccess } from "./access.ts";
import { openSwitches } from "./open.ts";
import type { SnmpCredential } from "./session/session.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "./testing/snmpd.ts";

let snmpd: Snmpd;
beforeAll(async () => {
  snmpd = await startSnmpd();
});
afterAll(() => snmpd?.close());

test.each<readonly [string, boolean, boolean, number]>([
  ["a device that is named, and for which there is a credential, is polled and reported", false, true, 1],
  ["a device without a credential is not asked", false, false, 0],
  ["an excluded device is not asked", true, true, 0],
])("%s", async (_, isExcluded, hasCredential, reports) => {
  const credential: SnmpCredential = {
    id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [], type: "snmp", settings: { version: "2c", port: snmpd.port },
    secret: { community: COMMUNITY },
  };
  const events: ProbeEvent[] = [];
  const credentials = { forHost: () => (hasCredential ? [credential] : []), namedHosts: () => [] };
  const clock = { ...systemClock, after: (_delay: number, task: () => void) => systemClock.after(0, task) };
  const watch = openSwitches({
    outbox: { append: (some) => events.push(...some) }, db: new SqliteDatabase(":memory:"), announced: () => [], intervalMs: 3_600_000,
    isExcluded: (ip) => isExcluded && ip === "127.0.0.1",
    access: createSnmpAccess({ reaches: () => true, credentials, devices: ["127.0.0.1"], clock }),
    random: Math.random, log: silentLog, clock,
  });
  await watch.pollNow();
  expect(events.map(({ type }) => type)).toEqual(Array.from({ length: reports }, () => "switch_report"));
  await watch.close();
  await watch.pollNow();
  expect(events).toHaveLength(reports);
});
