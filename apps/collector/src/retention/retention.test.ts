import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressKey } from "../db/keys/address-key.ts";
import { startJobs } from "../jobs/start-jobs.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/gateway.ts";
import { createInventoryRetention, type InventoryLimits } from "./inventory.ts";
import { createRecordRetention, type RecordLimits } from "./records.ts";

const DAY_MS = 86_400_000;
let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  gateway = await startTestGateway({ clock });
  tenant = await gateway.createTenant();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await gateway.stop();
});

const LIMITS: InventoryLimits = {
  keepDays: 100, keepDevices: 1000, keepMerges: 10,
  keep: { device_changes: 100, addresses: 100, evidence: 100, ports: 100, device_keys: 100, port_looks: 100 },
};
const inventory = (limits: Partial<InventoryLimits>) => {
  const { db, reads } = gateway;
  const made = createInventoryRetention({ db, reads, clock, log: silentLog }, { ...LIMITS, ...limits });
  closing.push(() => made.close());
  return made;
};
const records = (limits: Partial<RecordLimits>) => {
  const { db, reads } = gateway;
  const made = createRecordRetention({ db, reads, clock, log: silentLog }, {
    audit: { keepDays: 100, keepRecords: 1000, keepAuthenticationDays: 50 }, rejected: { keepDays: 100, keepBytes: 1e6 }, ...limits,
  });
  closing.push(() => made.close());
  return made;
};
const ago = (days: number) => toInstant(clock.now() - days * DAY_MS);
const own = (deviceId: string) => ({ device_id: deviceId, tenant_id: tenant.tenantId });

async function addAddress(
  deviceId: string, index: number, values: { readonly current: number; readonly last_seen: string },
): Promise<void> {
  const ip = `10.1.${index >> 8}.${index & 255}`;
  await gateway.db.insertInto("addresses").values({
    ...own(deviceId), site_id: tenant.siteId, mac: "", ip, ip_key: addressKey(ip), first_seen: ago(300), ...values,
  }).execute();
}
const addChange = (deviceId: string, index: number, days: number) => gateway.db.insertInto("device_changes").values({
  ...own(deviceId), id: createId(), at: ago(days), field: "ip", before: "", after: String(index), source: "x",
}).execute();

describe("what hangs on a device", () => {
  test("goes when it is old: changes, and addresses that it has no more", async () => {
    const id = await gateway.createDevice(tenant, { ip: "192.0.2.1" });
    for (const [index, days] of [200, 99].entries()) {
      await addChange(id, index, days);
      await addAddress(id, index, { current: 0, last_seen: ago(days) });
      await addAddress(id, 10 + index, { current: 1, last_seen: ago(days) });
    }
    expect(await inventory({}).run()).toBe(2);
    expect((await gateway.db.selectFrom("device_changes").select("after").execute()).map(({ after }) => after)).toEqual(["1"]);
    const kept = await gateway.db.selectFrom("addresses").select("ip").where("ip", "like", "10.1.%").orderBy("ip").execute();
    expect(kept.map(({ ip }) => ip)).toEqual(["10.1.0.1", "10.1.0.10", "10.1.0.11"]);
  });

  test("goes, the oldest first, when it is too much, of that device alone", async () => {
    const [id, other] = [await gateway.createDevice(tenant, { ip: "192.0.2.1" }), await gateway.createDevice(tenant, { ip: "192.0.2.2" })];
    for (let index = 0; index < 8; index += 1) {
      const at = ago(8 - index);
      await addChange(id, index, 1);
      await addAddress(id, index, { current: 0, last_seen: at });
      await gateway.db.insertInto("evidence").values({
        ...own(id), field: "hostname", value: `h${index}`, source: "mdns", confidence: 0.5, seen_at: at,
      }).execute();
      await gateway.db.insertInto("ports").values({
        ...own(id), port: index, protocol: "tcp", state: "open", service: "", version: "", banner: "", last_scanned: at,
      }).execute();
      await gateway.db.insertInto("device_keys").values({
        ...own(id), site_id: tenant.siteId, key: `k${index}`, source: "x", first_seen: at,
      }).execute();
      await gateway.db.insertInto("port_looks").values({ ...own(id), scope_id: `s${index}`, looked_at: at, scan_id: "scan" }).execute();
    }
    await addChange(other, 99, 1);
    await inventory({ keep: { device_changes: 3, addresses: 2, evidence: 4, ports: 5, device_keys: 6, port_looks: 7 } }).run();
    const values = async (table: "device_changes" | "evidence" | "ports" | "device_keys" | "port_looks" | "addresses", column: string) =>
      (await gateway.db.selectFrom(table).selectAll().where("device_id", "=", id).execute())
        .map((row) => String((row as Record<string, unknown>)[column])).toSorted();
    expect(await values("device_changes", "after")).toEqual(["5", "6", "7"]);
    expect((await values("addresses", "ip")).filter((ip) => ip.startsWith("10.1."))).toEqual(["10.1.0.6", "10.1.0.7"]);
    expect(await values("evidence", "value")).toEqual(["h4", "h5", "h6", "h7"]);
    expect(await values("ports", "port")).toEqual(["3", "4", "5", "6", "7"]);
    expect(await values("device_keys", "key")).toEqual(["k2", "k3", "k4", "k5", "k6", "k7"]);
    expect(await values("port_looks", "scope_id")).toEqual(["s1", "s2", "s3", "s4", "s5", "s6", "s7"]);
    expect((await gateway.db.selectFrom("device_changes").select("id").where("device_id", "=", other).execute()).length).toBe(1);
  });

  test("is looked at every ten minutes where it was seen since, and everywhere once a day", async () => {
    const id = await gateway.createDevice(tenant, { ip: "192.0.2.1", last_seen: ago(30) });
    const jobs = await startJobs([inventory({ keep: { ...LIMITS.keep, device_changes: 1 } })], { clock, lease: null });
    const left = async () => (await gateway.db.selectFrom("device_changes").select("id").where("device_id", "=", id).execute()).length;
    await clock.advance(11 * 60_000);
    for (let index = 0; index < 5; index += 1) await addChange(id, index, 1);
    const until = async (expected: number) => expect.poll(left).toBe(expected);
    await clock.advance(10 * 60_000);
    await gateway.db.updateTable("devices").set({ last_seen: toInstant(clock.now()) }).where("id", "=", id).execute();
    await clock.advance(10 * 60_000);
    await until(1);
    await jobs.close();
  });
});

describe("devices of a site", () => {
  test("beyond the most go, those not seen for longest first, but none that people have worked on", async () => {
    const made = [];
    for (let index = 0; index < 6; index += 1) {
      made.push(await gateway.createDevice(tenant, {
        ip: `192.0.2.${index}`, last_seen: ago(10 - index), ...(index === 0 ? { tags: '["core"]' } : {}),
      }));
    }
    expect(await inventory({ keepDevices: 4 }).run()).toBe(2);
    expect(new Set((await gateway.db.selectFrom("devices").select("id").execute()).map(({ id }) => id))).toEqual(
      new Set([made[0], ...made.slice(3)]),
    );
  });

  test("keep the newest of their merges, and for ever what people took apart", async () => {
    const id = await gateway.createDevice(tenant, { ip: "192.0.2.1" });
    for (let index = 0; index < 6; index += 1) {
      await gateway.db.insertInto("device_merges").values({
        id: createId(), tenant_id: tenant.tenantId, site_id: tenant.siteId, kept_id: id, merged_id: createId(),
        at: ago(index === 0 ? 300 : 1), by_type: "system", by_id: "x", by_name: String(index), reasons: "[]", snapshot: "{}",
        undone_at: null,
      }).execute();
    }
    await gateway.db.insertInto("device_merges").values({
      id: createId(), tenant_id: tenant.tenantId, site_id: tenant.siteId, kept_id: id, merged_id: createId(), at: ago(300), by_type: "user",
      by_id: "x", by_name: "person", reasons: "[]", snapshot: null, undone_at: ago(300),
    }).execute();
    await inventory({ keepMerges: 3 }).run();
    expect((await gateway.db.selectFrom("device_merges").select("by_name").execute()).map(({ by_name: name }) => name).toSorted()).toEqual(
      ["3", "4", "5", "person"],
    );
  });
});

describe("records", () => {
  test("of the audit log go by age and by number, tenant by tenant", async () => {
    const other = await gateway.createTenant();
    await gateway.db.deleteFrom("audit").execute();
    const add = (of: TestTenant, name: string, days: number) => gateway.db.insertInto("audit").values({
      id: createId(), tenant_id: of.tenantId, at: ago(days), actor_type: "user", actor_id: "x", actor_name: name, address: "",
      action: "site.create", target_type: "site", target_id: "x", before: null, after: null,
    }).execute();
    for (let index = 0; index < 5; index += 1) await add(tenant, `mine-${index}`, index === 0 ? 300 : 1);
    await add(other, "theirs", 99);
    const names = async () =>
      (await gateway.db.selectFrom("audit").select("actor_name").orderBy("id").execute()).map(({ actor_name: name }) => name);
    expect(await records({}).run()).toBe(1);
    expect(await names()).toEqual(["mine-1", "mine-2", "mine-3", "mine-4", "theirs"]);
    await records({ audit: { keepDays: 100, keepRecords: 2, keepAuthenticationDays: 50 } }).run();
    expect(await names()).toEqual(["mine-3", "mine-4", "theirs"]);
  });

  test("of what nobody could read go by age and by size, more of them than one transaction takes", async () => {
    const payload = "x".repeat(990);
    for (let seq = 1; seq <= 1100; seq += 1) {
      await gateway.db.insertInto("rejected_events").values({
        probe_id: "p", queue_id: "q", probe_seq: seq, tenant_id: tenant.tenantId, received_at: ago(seq === 1 ? 300 : 1),
        reason: "unreadable", payload,
      }).execute();
    }
    expect(await records({ rejected: { keepDays: 100, keepBytes: 2e6 } }).run()).toBe(1);
    await records({ rejected: { keepDays: 100, keepBytes: 3000 } }).run();
    expect(
      (await gateway.db.selectFrom("rejected_events").select("probe_seq").orderBy("probe_seq").execute()).map(({ probe_seq: seq }) => seq),
    )
      .toEqual([1098, 1099, 1100]);
  });

  test("of what nobody could read go from the probe that has most: it pushes out nothing of another, however old", async () => {
    const add = (probe: string, seq: number, days: number) => gateway.db.insertInto("rejected_events").values({
      probe_id: probe, queue_id: "q", probe_seq: seq, tenant_id: tenant.tenantId, received_at: ago(days), reason: "unreadable",
      payload: "x".repeat(990),
    }).execute();
    for (const seq of [1, 2]) await add("honest", seq, 50);
    for (let seq = 1; seq <= 600; seq += 1) await add("hostile", seq, 1);
    expect(await records({ rejected: { keepDays: 100, keepBytes: 10_000 } }).run()).toBe(592);
    const left = await gateway.db.selectFrom("rejected_events").select(["probe_id", "probe_seq"]).orderBy("probe_id").orderBy("probe_seq").execute();
    expect(left.map(({ probe_id: probe, probe_seq: seq }) => `${probe} ${seq}`)).toEqual([
      "honest 1", "honest 2", ...[593, 594, 595, 596, 597, 598, 599, 600].map((seq) => `hostile ${seq}`),
    ].toSorted());
  });

  test("of a probe's queues go when there are more than a hundred, those not written for longest first", async () => {
    for (let index = 0; index < 120; index += 1) {
      await gateway.db.insertInto("probe_queues").values({
        probe_id: "p", queue_id: `q${index}`, tenant_id: tenant.tenantId, watermark: 1, updated_at: ago(120 - index),
      }).execute();
    }
    expect(await records({}).run()).toBe(20);
    expect(await gateway.db.selectFrom("probe_queues").select("queue_id").where("queue_id", "in", ["q19", "q20"]).execute()).toEqual([
      { queue_id: "q20" },
    ]);
  });
});
