import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { limitSites } from "../retention/limit-sites.ts";
import { MAX_ANNOUNCED } from "./announcements.ts";
import { createIngestBench, hostState, type IngestBench } from "./testing/bench.ts";
import { addForeign, type Foreign } from "./testing/foreign.ts";

let bench: IngestBench;
let probe: ProbeAddress;
/** Another tenant, which is looked at after each attack. */
let foreign: Foreign;
let queueId = "";
let after = 0;
beforeEach(async () => {
  bench = await createIngestBench({ alerts: true, silentAfterSeconds: 86_400 });
  probe = await bench.addProbe();
  foreign = await addForeign(bench);
  await bench.database.db.insertInto("webhooks").values({
    id: createId(), tenant_id: bench.tenantId, url: "https://hooks.example.com/", events: '["*"]', active: 1, status: "healthy",
    failing_since: null, secret_sealed: "", secret_hint: "", previous_secret_sealed: null, previous_secret_until: null, created_at: now(),
    last_delivery_at: null, worker_id: null,
  }).execute();
  await bench.database.db.updateTable("tenants").set({ webhooks_revision: 1 }).where("id", "=", bench.tenantId).execute();
  queueId = createId();
  after = 0;
});
afterEach(async () => {
  const { isUnharmed, sent, acknowledged, logged } = await foreign.outcome();
  await bench.close();
  expect({ isUnharmed, acknowledged, logged }).toEqual({ isUnharmed: true, acknowledged: sent, logged: sent });
});

const now = () => toInstant(bench.clock.now());
const send = async (events: readonly { readonly type: string }[]) => {
  for (let at = 0; at < events.length; at += 500) {
    const part = events.slice(at, at + 500);
    expect(await bench.sendBatch(probe, queueId, after, part)).toMatchObject({ watermark: after + part.length, refused: null });
    after += part.length;
  }
};
const invented = (index: number) => ({
  ip: `10.9.${(index >> 8) & 255}.${index & 255}`,
  mac: `06:00:00:${[16, 8, 0].map((shift) => ((index >> shift) & 255).toString(16).padStart(2, "0")).join(":")}`,
});
const found = (host: { readonly ip: string; readonly mac: string; readonly hostname?: string }, keys: Readonly<Record<string, string>> = {}) => {
  const state = hostState(host, now());
  const evidence = Object.entries(keys).map(([field, value]) => ({ field, value, source: "dhcp", confidence: 0.9, seen_at: now() }));
  return { type: "host_found", occurred_at: now(), data: { ...state, evidence: [...state.evidence, ...evidence] } } as const;
};
const flood = (from: number, count: number) => send(Array.from({ length: count }, (_, index) => found(invented(from + index))));
const countOf = async (type: string) => (await bench.database.db.selectFrom("events").select((eb) => eb.fn.countAll<number>().as("n"))
  .where("type", "=", type as "host_found").where("tenant_id", "=", bench.tenantId).executeTakeFirstOrThrow()).n;
/** Devices that a webhook is called for. */
const announced = async () => (await bench.database.db.selectFrom("webhook_deliveries").select((eb) => eb.fn.countAll<number>().as("n"))
  .where("event", "=", "device.discovered").where("tenant_id", "=", bench.tenantId).executeTakeFirstOrThrow()).n;
const storms = () => bench.database.db.selectFrom("alerts").select(["status", "count", "severity"]).where("type", "=", "discovery_storm").where("tenant_id", "=", bench.tenantId)
  .orderBy("first_seen").execute();
const remove = (keep: number) => limitSites(bench.database, keep, new AbortController().signal);
const macs = async () => (await bench.database.db.selectFrom("devices").select("mac").where("tenant_id", "=", bench.tenantId)
  .orderBy("mac").execute()).map(({ mac }) => mac);

describe("a host that invents hardware addresses", () => {
  test("is announced a thousand times and then once more, as a storm; every device is stored, a real newcomer too",
    async () => {
      await flood(0, MAX_ANNOUNCED);
      await bench.clock.advance(1000);
      await flood(MAX_ANNOUNCED, 300);
      await send([found({ ip: "192.0.2.7", mac: "00:1b:21:00:00:07", hostname: "newcomer" })]);
      expect(await announced()).toBe(MAX_ANNOUNCED);
      expect(await countOf("host_found")).toBe(MAX_ANNOUNCED + 301);
      expect((await macs()).length).toBe(MAX_ANNOUNCED + 301);
      expect(await macs()).toContain("00:1b:21:00:00:07");
      expect(await storms()).toEqual([{ status: "open", count: 1, severity: "medium" }]);
      // A device that was not announced goes without an event; a named one is announced.
      const off = (host: { readonly ip: string; readonly mac: string }) => ({
        type: "host_offline", occurred_at: now(), data: { ip: host.ip, mac: host.mac, last_seen_at: now(), missed_checks: 3 },
      });
      await bench.clock.advance(180_000);
      await send([off(invented(5)), off(invented(MAX_ANNOUNCED + 5)), off({ ip: "192.0.2.7", mac: "00:1b:21:00:00:07" })]);
      expect(await countOf("host_offline")).toBe(2);
    });

  test("is published again each ten minutes while it lasts; and newcomers are announced again after it", async () => {
    await flood(0, MAX_ANNOUNCED + 10);
    await bench.clock.advance(601_000);
    await flood(5000, 20);
    expect(await storms()).toEqual([{ status: "open", count: 2, severity: "medium" }]);
    expect(await announced()).toBe(MAX_ANNOUNCED);
    await bench.clock.advance(601_000);
    await flood(6000, 20);
    expect(await announced()).toBe(MAX_ANNOUNCED + 20);
    expect(await storms()).toEqual([{ status: "open", count: 2, severity: "medium" }]);
  });

  test("does not affect the events of another site", async () => {
    const siteId = createId();
    await bench.database.db.insertInto("sites")
      .values({ id: siteId, tenant_id: bench.tenantId, name: "two", created_at: now(), probe_configuration: "{}" }).execute();
    const other = await bench.addProbe(siteId);
    await flood(0, MAX_ANNOUNCED + 10);
    await bench.sendBatch(other, createId(), 0, [found({ ip: "192.0.2.8", mac: "00:1b:21:00:00:08" })]);
    expect(await announced()).toBe(MAX_ANNOUNCED + 1);
  });

  test("pushes out its own inventions, and nothing that is long there, named, serves or was edited", async () => {
    const DAY_MS = 86_400_000;
    const real = [
      { ip: "192.0.2.1", mac: "00:1b:21:00:00:01" }, { ip: "192.0.2.2", mac: "00:1b:21:00:00:02", hostname: "named" },
      { ip: "192.0.2.3", mac: "00:1b:21:00:00:03" }, { ip: "192.0.2.4", mac: "06:1b:21:00:00:04" }, { ip: "192.0.2.5", mac: "06:ff:ff:00:00:05" },
    ];
    await send(real.map((host) => found(host)));
    const ago = (days: number) => toInstant(bench.clock.now() - days * DAY_MS);
    const change = (mac: string, values: object) => bench.database.db.updateTable("devices").set(values).where("mac", "=", mac)
      .where("tenant_id", "=", bench.tenantId).execute();
    // All of them were last seen long before the flood: they would go first by that.
    for (const { mac } of real) await change(mac, { first_seen: ago(40), last_seen: ago(40) });
    await change("00:1b:21:00:00:01", { first_seen: ago(400) });
    await change("00:1b:21:00:00:03", { open_ports: "[22]" });
    await change("06:1b:21:00:00:04", { tags: '["mine"]' });
    await change("06:ff:ff:00:00:05", { first_seen: ago(400) });
    await flood(0, 400);
    expect(await remove(100)).toBe(305);
    const kept = await macs();
    expect(kept.length).toBe(100);
    for (const { mac } of real) expect(kept).toContain(mac);
  });
});

describe("a host that copies another's DHCP identifiers", () => {
  const victim = { ip: "192.0.2.10", mac: "00:1b:21:00:00:01", hostname: "finance-pc" };
  test.each([
    ["client identifier", "dhcp_client_id", "00706978656c2d372d61626364"], ["DUID", "dhcp_duid", "000100012abbccdd0011"],
    ["MAC in the client identifier", "dhcp_client_id", "01001b21000001"],
  ])("%s: is a device of its own, and announced", async (_, field, value) => {
    await send([found(victim, { [field]: value })]);
    await send([found({ ip: "192.0.2.66", mac: "02:66:66:66:66:66" }, { [field]: value })]);
    expect(await macs()).toEqual([victim.mac, "02:66:66:66:66:66"]);
    expect(await announced()).toBe(2);
  });

  test("and a laptop on dock and Wi-Fi, which calls itself by one name, stays one", async () => {
    const keys = { dhcp_duid: "000100012abbccdd0011" };
    await send([found(victim, keys), found({ ...victim, ip: "192.0.2.11", mac: "00:1b:21:00:00:02" }, keys)]);
    expect((await macs()).length).toBe(1);
  });
});
