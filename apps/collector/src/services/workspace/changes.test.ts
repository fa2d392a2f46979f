import { Changes } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { openWorkspace } from "./open.ts";

const NOW = Date.UTC(2026, 5, 20);
const HOUR_MS = 3_600_000;
const ago = (hours: number) => toInstant(NOW - hours * HOUR_MS);

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let stranger: TestTenant;
let second: string;
beforeEach(async () => {
  clock = createFakeClock(NOW);
  gateway = await startTestGateway({ clock, modules: (parts) => [openWorkspace(parts)] });
  tenant = await gateway.createTenant("viewer");
  stranger = await gateway.createTenant("viewer");
  second = createId();
  await gateway.db.insertInto("sites").values({ id: second, tenant_id: tenant.tenantId, name: "Store 12", created_at: ago(900), probe_configuration: "{}" }).execute();
});
afterEach(() => gateway.stop());

const changes = async (query = "", { token } = tenant) => {
  const answer = await gateway.get(`/api/v1/changes${query}`, token);
  expect([query, answer.status]).toEqual([query, 200]);
  return Changes.parse(answer.body);
};
const alert = (values: object) => ({
  id: createId(), tenant_id: tenant.tenantId, site_id: tenant.siteId, source: "rogue", type: "rogue_dhcp", subject: "x", title: "x", description: "", first_seen: ago(2), last_seen: ago(2),
  severity: "high", severity_rank: 4, status: "open", count: 1, evidence: "[]", mitre_techniques: "[]", device_ip: "", notified: 0, resolved_at: null, ...values,
});
const NONE = {
  devices: { new: 0, gone: 0 }, alerts: { critical: 0, high: 0, medium: 0, low: 0, info: 0, resolved: 0 }, vulnerabilities: 0, configurations: 0, silent_probes: 0,
};

/** Something of everything, two days ago, and the same two hours ago. */
const fill = async () => {
  for (const hours of [48, 2]) {
    const at = { occurredAt: ago(hours), receivedAt: ago(hours) };
    const gone = await gateway.createDevice(tenant, { ip: `10.0.${hours}.1`, first_seen: ago(900), presence_state: "offline", is_online: 0 });
    const back = await gateway.createDevice(tenant, { ip: `10.0.${hours}.2`, first_seen: ago(hours), site_id: second });
    const event = (type: "host_offline" | "vuln_found" | "config_changed", deviceId: string, data = {}) => ({ type, deviceId, siteId: second, data, ...at });
    await gateway.append(tenant, [
      event("host_offline", gone), event("host_offline", gone), event("host_offline", back), event("vuln_found", back), event("vuln_found", back, { others: 4 }),
      event("config_changed", back), { ...at },
    ]);
    await gateway.db.insertInto("alerts").values([
      alert({ first_seen: ago(hours) }), alert({ first_seen: ago(hours), severity: "critical", site_id: second }), alert({ first_seen: ago(hours), severity: "low", site_id: null }),
      alert({ first_seen: ago(800), resolved_at: ago(hours), status: "resolved" }),
    ]).execute();
    for (const [state, revoked_at] of [["silent", null], ["silent", ago(1)], ["online", null]] as const) {
      await gateway.db.insertInto("probes").values({
        id: createId(), tenant_id: tenant.tenantId, site_id: tenant.siteId, name: `probe ${createId()}`, enrolled_at: ago(900), revoked_at, certificate_serial: createId(), certificate_expires_at: ago(-900),
        version: "1", state, silent_since: state === "silent" ? ago(hours) : null, last_heard_at: ago(hours), run_id: null, health: null,
      }).execute();
    }
  }
};

describe("what changed since a moment", () => {
  test("is counted in all and of each site, and is nobody else's", async () => {
    expect(await changes()).toEqual({ since: ago(24), until: toInstant(NOW), total: NONE, sites: [] });
    await fill();
    const own = { ...NONE, devices: { new: 0, gone: 1 }, alerts: { ...NONE.alerts, high: 1, resolved: 1 }, silent_probes: 1 };
    const other = { ...NONE, devices: { new: 1, gone: 0 }, alerts: { ...NONE.alerts, critical: 1 }, vulnerabilities: 6, configurations: 1 };
    expect(await changes()).toEqual({
      since: ago(24), until: toInstant(NOW), sites: [{ site_id: second, ...other }, { site_id: tenant.siteId, ...own }],
      total: {
        devices: { new: 1, gone: 1 }, alerts: { ...NONE.alerts, critical: 1, high: 1, low: 1, resolved: 1 }, vulnerabilities: 6, configurations: 1, silent_probes: 1,
      },
    });
    expect(await changes(`?since=1h&site_id=${second}`)).toMatchObject({ since: ago(1), total: NONE, sites: [] });
    expect(await changes(`?since=7d&site_id=${tenant.siteId}`)).toMatchObject({ total: { devices: { gone: 2 }, alerts: { high: 2, critical: 0 }, silent_probes: 2 }, sites: [{ site_id: tenant.siteId }] });
    expect((await changes("?since=7d", stranger)).total).toEqual(NONE);
    for (const [query, status] of [[`?site_id=${stranger.siteId}`, 404], ["?since=soon", 400]] as const) {
      expect((await gateway.get(`/api/v1/changes${query}`, tenant.token)).status).toBe(status);
    }
    expect((await gateway.get("/api/v1/changes")).status).toBe(401);
  });

  test("is since the person looked last, and never further back than a month", async () => {
    await gateway.call("PUT", "/api/v1/me/preferences", tenant.token, { last_seen: ago(3) });
    expect((await changes()).since).toBe(ago(3));
    expect((await changes("?since=90d")).since).toBe(ago(31 * 24));
    await gateway.call("PUT", "/api/v1/me/preferences", tenant.token, { last_seen: ago(24 * 365) });
    expect((await changes()).since).toBe(ago(31 * 24));
  });

  test("is since now where the moment is yet to come, which nobody can have seen", async () => {
    const later = toInstant(NOW + HOUR_MS);
    expect((await changes(`?since=${later}`)).since).toBe(toInstant(NOW));
    expect((await gateway.call("PUT", "/api/v1/me/preferences", tenant.token, { last_seen: later })).body).toMatchObject({ last_seen: toInstant(NOW) });
    expect((await changes()).since).toBe(toInstant(NOW));
  });

  test("is exact of very many, also where many changed at once", async () => {
    await fill();
    const device = await gateway.db.selectFrom("devices").selectAll().where("ip", "=", "10.0.2.2").executeTakeFirstOrThrow();
    await insertMany(gateway.db, "devices", Array.from({ length: 4500 }, (_, index) => ({ ...device, id: createId(), ip: "", ip_key: "", first_seen: ago(index % 3) })));
    const row = await gateway.db.selectFrom("alerts").selectAll().limit(1).executeTakeFirstOrThrow();
    await insertMany(gateway.db, "alerts", Array.from({ length: 4500 }, () => ({ ...row, id: createId(), severity: "info", first_seen: ago(1), status: "resolved", resolved_at: ago(1) })));
    const { total } = await changes();
    expect([total.devices.new, total.alerts.info, total.alerts.resolved]).toEqual([4501, 4500, 4501]);
  });
});
