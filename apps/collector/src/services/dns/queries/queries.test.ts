import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DnsQueryRow, DnsQuerySettings, DnsStats, type EventData, listEnvelope, readDnsBundle } from "@lanthorn/contract";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertMany } from "../../../db/query/write-many.ts";
import type { AppendedEvent } from "../../../events/log.ts";
import type { Job } from "../../../jobs/job.ts";
import { singleKey } from "../../../sealing/keyring.ts";
import { createSealing } from "../../../sealing/sealing.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import type { PublishBundle } from "../bundles/site-bundles.ts";
import { type Dns, openDns } from "../open.ts";
import { createQueriesReaction, MAX_ROWS } from "./reaction.ts";

type Reported = EventData<"dns_queries">;

const NOW = "2026-06-01T12:30:00.000Z";
const ROW: Reported["rows"][number] = { client_ip: "10.0.0.7", name: "a.ads.example", type: "A", action: "blocked", list: "Ads", times: 2, last_at: NOW };
const COUNTS = { queries: 10, from_cache: 4, failed: 1, blocked: 2, observed: 0, left_out: 0 };

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let forgetting: Job<number> | undefined;
let folder: string;
let dns: Dns;
let published: Parameters<PublishBundle>[0][];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-queries-"));
  published = [];
  clock = createFakeClock(Date.parse(NOW));
  gateway = await startTestGateway({
    modules(parts) {
      dns = openDns({ data_dir: folder }, {
        ...parts, clock, sealing: createSealing(singleKey(new Uint8Array(32))), log: silentLog, events: parts.log, onPublished: async () => {}, publish: (bundle) => Promise.resolve(published.push(bundle) > 0),
        fetchFile: () => Promise.reject(new Error("nothing is fetched")), addressesOf: () => Promise.resolve([]),
      });
      forgetting = dns.retention?.[0] as Job<number>;
      return [dns];
    },
  });
  tenant = await gateway.createTenant("admin");
});
afterEach(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const report = (data: Partial<Reported>, { siteId = tenant.siteId, at = NOW } = {}) => {
  const event = { type: "dns_queries", site_id: siteId, occurred_at: at, received_at: NOW, data: { from: at, to: at, level: "all", ...COUNTS, rows: [], ...data } } as unknown as AppendedEvent<"dns_queries">;
  return gateway.db.transaction().execute((trx) => createQueriesReaction({ keepDays: 7 }).react(trx, { tenantId: tenant.tenantId } as never, [event]));
};
const read = async (query = "", of = tenant) => listEnvelope(DnsQueryRow).parse((await gateway.get(`/api/v1/dns/queries${query}`, of.token)).body);
const stats = async (query = "") => DnsStats.parse((await gateway.get(`/api/v1/dns/stats${query}`, tenant.token)).body);

describe("what clients asked", () => {
  test("is one row an hour for queries that are alike, with the device that had the address", async () => {
    const device = (await gateway.call("POST", "/api/v1/devices", tenant.token, { ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" })).body as { id: string };
    await report({ rows: [ROW, { ...ROW, client_ip: "10.0.0.8" }] });
    await report({ rows: [{ ...ROW, times: 3, last_at: "2026-06-01T12:29:00.000Z" }, { ...ROW, last_at: "2026-06-01T11:59:59.000Z" }] });
    const { data, meta } = await read("?client_ip=10.0.0.7&sort=x");
    expect(meta.total).toBe(2);
    expect(data.find(({ hour }) => hour === "2026-06-01T12:00:00.000Z")).toMatchObject({ times: 5, device_id: device.id, first_at: "2026-06-01T12:29:00.000Z", last_at: NOW, action: "blocked", list: "Ads" });
    expect((await read(`?device_id=${device.id}`)).meta.total).toBe(2);
  });

  test("is found by name with those below it, by what became of it and by time, page by page", async () => {
    await report({ rows: [ROW, { ...ROW, name: "ads.example" }, { ...ROW, name: "bads.example" }, { ...ROW, name: "x%.example", action: "resolved", list: "" }] });
    const names = async (query: string) => (await read(query)).data.map(({ name }) => name).toSorted();
    expect(await names("?name=ADS.example.")).toEqual(["a.ads.example", "ads.example"]);
    expect(await names("?action=resolved")).toEqual(["x%.example"]);
    expect(await names("?name=%25.example")).toEqual([]);
    expect(await names(`?since=${NOW}`)).toHaveLength(4);
    expect(await names("?until=2026-06-01T12:00:00.000Z")).toEqual([]);
    const first = await read("?per_page=3");
    const second = await read(`?per_page=3&cursor=${first.meta.next_cursor}`);
    expect([...first.data, ...second.data].map(({ name }) => name).toSorted()).toEqual(["a.ads.example", "ads.example", "bads.example", "x%.example"]);
  });

  test("is counted and found among many thousand rows, whatever lies between two that match", async () => {
    const idOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;
    const rows = Array.from({ length: 12_000 }, (_, index) => {
      const id = idOf(index);
      const name = index % 4000 === 7 ? `n${index}.rare.example` : `n${index}.example`;
      return {
        id, key: id, tenant_id: tenant.tenantId, site_id: tenant.siteId, hour: "2026-06-01T12:00:00.000Z", client_ip: "10.0.0.7", device_id: null, name, type: "A", action: "resolved", list: "",
        times: 1, first_at: NOW, last_at: NOW,
      };
    });
    await insertMany(gateway.db, "dns_queries", rows);
    const found = async (query: string) => {
      const { data, meta } = await read(query);
      return [meta.total, meta.next_cursor, ...data.map(({ name }) => name)];
    };
    expect(await found("?name=rare.example&per_page=2")).toEqual([3, idOf(4007), "n8007.rare.example", "n4007.rare.example"]);
    expect(await found("?name=rare.example&per_page=2&page=2")).toEqual([3, null, "n7.rare.example"]);
    expect(await found(`?name=rare.example&cursor=${idOf(8007)}`)).toEqual([3, null, "n4007.rare.example", "n7.rare.example"]);
    expect(await found("?per_page=1&page=11000")).toEqual([12_000, idOf(1000), "n1000.example"]);
  });

  test("is another tenant's as if it were not there", async () => {
    await report({ rows: [ROW] });
    const other = await gateway.createTenant("admin");
    expect((await read("", other)).data).toEqual([]);
    for (const path of ["queries", "stats"]) expect((await gateway.get(`/api/v1/dns/${path}?site_id=${tenant.siteId}`, other.token)).status).toBe(404);
  });

  test("is added up, with what is there most", async () => {
    await report({ rows: [ROW, { ...ROW, name: "good.example", action: "resolved", list: "", times: 5 }, { ...ROW, client_ip: "10.0.0.8", times: 1 }], left_out: 4 });
    await report({ level: "blocked", rows: [] }, { at: "2026-06-01T10:10:00.000Z" });
    await report({ rows: [] }, { at: "2026-05-25T12:30:00.000Z" });
    expect(await stats("?top=1")).toMatchObject({
      from: "2026-05-31T12:00:00.000Z", to: "2026-06-01T13:00:00.000Z", queries: 20, from_cache: 8, failed: 2, blocked: 4, left_out: 4, is_partial: false,
      levels: [{ site_id: tenant.siteId, level: "all", at: NOW }], hours: [{ hour: "2026-06-01T10:00:00.000Z", queries: 10 }, { hour: "2026-06-01T12:00:00.000Z", queries: 10 }],
      top_names: [{ name: "good.example", times: 5 }], top_blocked: [{ name: "a.ads.example", times: 3 }], top_clients: [{ client_ip: "10.0.0.7", times: 7, blocked: 2 }], lists: [{ list: "Ads", times: 3 }],
    });
    for (const query of ["?since=8d", "?since=1h&until=2h"]) expect((await gateway.get(`/api/v1/dns/stats${query}`, tenant.token)).status).toBe(400);
  });

  test("is forgotten when its days are over, and what comes too late is not kept", async () => {
    await report({ rows: [{ ...ROW, last_at: "2026-05-24T12:30:00.000Z" }, { ...ROW, last_at: "1970-01-01T00:00:00.000Z" }] });
    await report({ rows: [{ ...ROW, last_at: "2026-05-26T12:30:00.000Z" }] }, { at: "2026-05-26T12:30:00.000Z" });
    expect((await read()).meta.total).toBe(1);
    await clock.advance(2 * 86_400_000);
    expect(await forgetting?.run()).toBe(1);
    expect((await read()).meta.total).toBe(0);
    expect((await gateway.db.selectFrom("dns_query_hours").select("hour").execute()).map(({ hour }) => hour)).toEqual(["2026-06-01T12:00:00.000Z"]);
  });

  test("is bounded, whatever a probe reports: the rest is counted", async () => {
    const hour = { site_id: tenant.siteId, hour: "2026-06-01T12:00:00.000Z", tenant_id: tenant.tenantId, ...COUNTS, entries: MAX_ROWS.hour - 1, level: "all", reported_at: NOW };
    await gateway.db.insertInto("dns_query_hours").values(hour).execute();
    await report({ rows: [ROW, { ...ROW, name: "b.example", times: 7 }, { ...ROW, name: "c.example", times: 9 }] });
    expect((await read()).meta.total).toBe(1);
    expect((await stats("?since=1h")).left_out).toBe(16);
    for (let left = 3; left > 0; left -= 1) await report({ queries: 1_000_000_000_000, rows: [{ ...ROW, times: 1_000_000_000 }] });
    expect(await stats("?since=1h")).toMatchObject({ queries: 10_000_000_000, top_names: [{ times: 3_000_000_002 }] });
  });
});

describe("what a site decides of its log of queries", () => {
  const path = (siteId = tenant.siteId) => `/api/v1/dns/queries/settings/${siteId}`;
  const decide = async (change: object) => DnsQuerySettings.parse((await gateway.call("PUT", path(), tenant.token, change)).body);
  const bundledLevels = async () => {
    await dns.bundling.run();
    return published.map(({ files }) => {
      const opened = readDnsBundle(files);
      return opened.ok ? opened.policy.queries?.level ?? null : opened.message;
    });
  };

  test("is nothing at first, is changed in parts with a record of who did it, and reaches its probes", async () => {
    expect((await gateway.get(path(), tenant.token)).body).toEqual({ site_id: tenant.siteId, level: null, keep_days: null, changed_by: null, changed_at: null });
    expect(await bundledLevels()).toEqual([]);
    await decide({ level: "blocked" });
    expect(await bundledLevels()).toEqual(["blocked"]);
    expect(await decide({ keep_days: 2 })).toMatchObject({ level: "blocked", keep_days: 2, changed_at: NOW });
    expect(await bundledLevels()).toEqual(["blocked"]);
    expect(await decide({ level: null })).toMatchObject({ level: null, keep_days: 2 });
    expect(await bundledLevels()).toEqual(["blocked", null]);
    const listed = listEnvelope(DnsQuerySettings).parse((await gateway.get("/api/v1/dns/queries/settings", tenant.token)).body);
    expect(listed.data).toMatchObject([{ site_id: tenant.siteId, level: null, keep_days: 2 }]);
    const audited = await gateway.db.selectFrom("audit").select(["action", "before", "after"]).where("action", "=", "dns_query_settings.update").orderBy("id").execute();
    expect(audited.map(({ before, after }) => [before, after].map((one) => (JSON.parse(one ?? "null") as { level: unknown }).level))).toEqual([[null, "blocked"], ["blocked", "blocked"], ["blocked", null]]);
  });

  test("is another tenant's as if it were not there, and nobody's who may only read", async () => {
    const other = await gateway.createTenant("admin");
    for (const method of ["GET", "PUT"]) expect((await gateway.call(method, path(), other.token, method === "PUT" ? { level: "off" } : undefined)).status).toBe(404);
    const viewer = await gateway.createTenant("viewer");
    expect((await gateway.call("PUT", path(viewer.siteId), viewer.token, { level: "off" })).status).toBe(403);
    for (const wrong of [{ level: "some" }, { keep_days: 0 }, { keep_days: 367 }, { days: 3 }]) expect((await gateway.call("PUT", path(), tenant.token, wrong)).status).toBe(400);
  });

  test.each([["all", 2, "all"], ["blocked", 1, "blocked"], ["counts", 0, "counts"], ["off", 0, null]] as const)("with %s, what a probe reports beyond it is not kept", async (level, rows, shown) => {
    await decide({ level });
    await report({ rows: [ROW, { ...ROW, name: "good.example", action: "resolved", list: "" }], left_out: 4 });
    expect((await read()).meta.total).toBe(rows);
    expect((await stats()).levels.map((one) => one.level)).toEqual(shown === null ? [] : [shown]);
    expect(await stats()).toMatchObject({ queries: shown === null ? 0 : 10, left_out: rows === 0 ? 0 : 4 });
  });

  test.each([["counts", "counts", []], ["blocked", "blocked", ["a.ads.example", "o.ads.example"]], ["all", "counts", []], [null, "blocked", ["a.ads.example", "o.ads.example"]], ["blocked", "off", []]] as const)(
    "with %s, rows that do not belong to the level %s that a probe names are not kept", async (level, named, names) => {
      await decide({ level });
      const rows = [ROW, { ...ROW, name: "o.ads.example", action: "observed" as const }, { ...ROW, name: "good.example", action: "resolved" as const, list: "" }];
      await report({ level: named, rows, left_out: 4 });
      expect((await read()).data.map(({ name }) => name).toSorted()).toEqual(names);
      expect(await gateway.db.selectFrom("dns_queries").select("name").where("name", "=", "good.example").execute()).toEqual([]);
      expect(await stats()).toMatchObject({ queries: named === "off" ? 0 : 10, left_out: names.length === 0 ? 0 : 4 });
    },
  );

  test("is a level that cannot raise what a probe reports", async () => {
    await decide({ level: "all" });
    await report({ level: "counts", rows: [] });
    expect((await stats()).levels).toMatchObject([{ level: "counts" }]);
  });

  test("is for how long queries are kept: the shorter of the site's days and the collector's", async () => {
    const second = (await gateway.call("POST", "/api/v1/sites", tenant.token, { name: "Second" })).body as { id: string };
    await decide({ keep_days: 2 });
    await gateway.call("PUT", path(second.id), tenant.token, { keep_days: 300 });
    for (const siteId of [tenant.siteId, second.id]) {
      for (const at of ["2026-05-24T12:30:00.000Z", "2026-05-28T12:30:00.000Z", "2026-05-31T12:30:00.000Z"]) await report({ rows: [{ ...ROW, last_at: at }] }, { siteId, at });
    }
    const hours = async (siteId: string) => (await read(`?site_id=${siteId}`)).data.map(({ hour }) => hour.slice(0, 10)).toSorted();
    expect(await hours(tenant.siteId)).toEqual(["2026-05-31"]);
    expect(await hours(second.id)).toEqual(["2026-05-28", "2026-05-31"]);
    await clock.advance(2.5 * 86_400_000);
    expect(await forgetting?.run()).toBe(1);
    expect([await hours(tenant.siteId), await hours(second.id)]).toEqual([[], ["2026-05-28", "2026-05-31"]]);
  });
});
