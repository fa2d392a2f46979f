import type { AffectedCve, CveStats, CveSuppression, DeviceProfile, List } from "@lanthorn/contract";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { openCve } from "../open.ts";
import { cveRow, seedCves, seedService, seedSoftware } from "./testing/seed.ts";

const NOW = Date.parse("2026-02-01T00:00:00.000Z");
const LATER = "2026-01-20T00:00:00.000Z";
/** No CVE database is there. */
const NOWHERE = "/nonexistent";
const OPENSSH = "openbsd:openssh";
let gateway: TestGateway;
let tenant: TestTenant;
let device: { readonly tenantId: string; readonly id: string };
let other: { readonly tenantId: string; readonly id: string };
let openssh: { readonly id: string; readonly product: string };
const clock = createFakeClock(NOW);
beforeEach(async () => {
  gateway = await startTestGateway({
    clock, modules: (parts) => [openCve({ data_dir: NOWHERE }, { ...parts, logger: silentLog, program: [process.execPath], lease: null, shared: null })],
  });
  tenant = await gateway.createTenant("admin");
  const place = (id: string) => ({ tenantId: tenant.tenantId, id });
  device = place(await gateway.createDevice(tenant, { ip: "10.0.0.5", hostname: "nas" }));
  other = place(await gateway.createDevice(tenant, { ip: "10.0.0.6" }));
  await seedCves(gateway.db, [
    cveRow("CVE-2024-0001", { score: 9.8, severity: "critical", epss: 0.1 }), cveRow("CVE-2024-0002", { score: 5, severity: "medium", epss: 0.9 }),
    cveRow("CVE-2024-0003", { score: 7, is_kev: 1, epss: null, description: "A race in sshd." }), cveRow("CVE-2024-0004", { score: null, severity: null, epss: null }),
    cveRow("CVE-2024-0005"), cveRow("CVE-2024-0006"),
  ]);
  openssh = {
    product: OPENSSH, id: await seedSoftware(gateway.db, { product: OPENSSH, version: "9.2p1", packageVersion: "1:9.2p1-2+deb12u2" }, [
      { cve_id: "CVE-2024-0001" }, { cve_id: "CVE-2024-0002", confidence: "likely" }, { cve_id: "CVE-2024-0003" }, { cve_id: "CVE-2024-0004" },
      { cve_id: "CVE-2024-0005", status: "patched-by-distribution", is_counted: 0 }, { cve_id: "CVE-2024-0006", confidence: "possible", is_counted: 0 },
    ]),
  };
  await seedService(gateway.db, device, openssh);
  await seedService(gateway.db, other, openssh, { port: 2222 });
});
afterEach(() => gateway.stop());

const get = <T>(path: string, token = tenant.token) => gateway.call("GET", `/api/v1/${path}`, token) as Promise<{ readonly status: number; readonly body: T }>;
const affected = async (query = "", token = tenant.token) => {
  const { status, body } = await get<List<AffectedCve>>(`cve/affected${query}`, token);
  expect(status).toBe(200);
  return body;
};
const ids = async (query = "", token = tenant.token) => (await affected(query, token)).data.map(({ cve_id: id }) => id.slice(-1)).join("");
const csv = async (query: string, token = tenant.token) =>
  (await fetch(`${gateway.url}/api/v1/cve/affected/export${query}`, { headers: { authorization: `Bearer ${token}` } })).text();
const suppress = async (body: object, token = tenant.token) => {
  const { status, body: made } = await gateway.call("POST", "/api/v1/cve/suppressions", token, body);
  return { status, made: made as CveSuppression };
};

test("what counts is listed, the known exploited first, then by EPSS and CVSS, with the service and why", async () => {
  const { data, meta } = await affected();
  expect(data.map(({ cve_id: id, affected_devices_total: total }) => [id, total])).toEqual([
    ["CVE-2024-0003", 2], ["CVE-2024-0002", 2], ["CVE-2024-0001", 2], ["CVE-2024-0004", 2],
  ]);
  expect(meta).toEqual({ page: 1, per_page: 100, total: 4, next_cursor: null });
  const [first] = data;
  expect(first).toMatchObject({
    description: "A race in sshd.", cvss_score: 7, severity: "high", published: "2024-07-01", known_exploited: true, epss: null,
    references: ["https://example.org/advisory"], mitre_techniques: ["T1190"],
  });
  expect(first?.affected_devices.find(({ device_id: id }) => id === device.id)).toEqual({
    device_id: device.id, ip: "10.0.0.5", hostname: "nas", site_id: tenant.siteId, matched_service: "ssh", matched_port: 22, protocol: "tcp", product: OPENSSH,
    version: "1:9.2p1-2+deb12u2", confidence: "confirmed", status: "open", cpe: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", range: "< 9.8",
    reasons: ["The record names this version."], remedies: [{ product: OPENSSH, fixed: ["9.8"], last_affected: [] }],
    first_seen: "2026-01-01T00:00:00.000Z", last_seen: "2026-02-01T00:00:00.000Z", suppression: null,
  });
});

/** Software without a CVE at many ports: a list is read in another way where much runs. */
const seedMany = async (count: number) => {
  const product = "example:quiet";
  const id = await seedSoftware(gateway.db, { product, version: "1" }, []);
  for (let port = 10_000; port < 10_000 + count; port += 1) await seedService(gateway.db, other, { id, product }, { port });
};

test.each([0, 1000])("every filter narrows the list, and what is not known or not the tenant's is refused, with %d other services", async (services) => {
  await seedMany(services);
  const server = await seedSoftware(gateway.db, { product: "apache:http_server", version: "2.4.1" }, [{ cve_id: "CVE-2024-0005" }]);
  await seedService(gateway.db, other, { id: server, product: "apache:http_server" }, { port: 80 });
  const found = async (query: string) => [query, await ids(`?${query}`)];
  for (const [query, wanted] of [
    ["severity=critical", "1"], ["severity=critical,medium", "21"], ["cvss_min=7", "315"], ["cvss_min=0", "32154"], ["search=RACE", "3"], ["search=2024-0002", "2"], ["search=%25", ""],
    ["known_exploited=true", "3"], ["known_exploited=false", "2154"], ["confidence=likely", "2"], ["confidence=possible", "6"], ["status=patched-by-distribution", "5"],
    ["product=apache:http_server", "5"], [`product=${OPENSSH.toUpperCase()}`, "3214"], [`device_id=${device.id}`, "3214"], [`site_id=${tenant.siteId}`, "32154"], ["status=resolved", ""],
    ["sort=cvss_score&severity=critical,high", "351"], ["sort=-cvss_score", "15324"], ["sort=cve_id", "12345"], ["sort=-epss", "25143"],
  ] as const) expect(await found(query)).toEqual([query, wanted]);
  for (const [query, status] of [
    ["severity=worst", 400], ["cvss_min=11", 400], ["cvss_min=x", 400], ["page=0", 400], ["per_page=1001", 400], ["product=ssh", 400], ["status=none", 400], ["sort=name", 400],
    ["cursor=CVE-1999-0001", 400], ["cursor=%27", 400], ["device_id=x", 400], [`device_id=${tenant.siteId}`, 404], [`site_id=${device.id}`, 404],
  ] as const) expect([query, (await get(`cve/affected?${query}`)).status]).toEqual([query, status]);
});

test("pages and cursors show each CVE once", async () => {
  expect([await ids("?per_page=3"), await ids("?per_page=3&page=2"), await ids("?per_page=3&page=9")]).toEqual(["321", "4", ""]);
  for (const sort of ["-risk", "risk", "-cvss_score", "epss", "published", "cve_id"]) {
    const seen: string[] = [];
    for (let cursor = ""; ;) {
      const { data, meta } = await affected(`?per_page=1&sort=${sort}${cursor}`);
      seen.push(...data.map(({ cve_id: id }) => id));
      expect(meta.total).toBe(4);
      if (meta.next_cursor === null) break;
      cursor = `&cursor=${meta.next_cursor}`;
    }
    expect([sort, seen.length, new Set(seen).size]).toEqual([sort, 4, 4]);
  }
});

test("other tenants see nothing of it", async () => {
  const stranger = await gateway.createTenant("admin");
  expect([await ids("", stranger.token), await ids("?status=open,suppressed,resolved,patched-by-distribution&confidence=possible,likely,confirmed", stranger.token)]).toEqual(["", ""]);
  expect((await get<CveStats>("cve/stats", stranger.token)).body).toMatchObject({ total_matched: 0, affected_devices: 0 });
  expect(await csv("", stranger.token)).not.toContain("CVE-");
  expect((await get(`cve/affected?device_id=${device.id}`, stranger.token)).status).toBe(404);
  const { made } = await suppress({ product: OPENSSH, reason: "ours" });
  for (const [method, body] of [["GET"], ["PUT", { reason: "mine" }], ["DELETE"]] as const) {
    expect((await gateway.call(method, `/api/v1/cve/suppressions/${made.id}`, stranger.token, body)).status).toBe(404);
  }
  for (const body of [{ device_id: device.id, reason: "x" }, { site_id: tenant.siteId, reason: "x" }]) expect((await suppress(body, stranger.token)).status).toBe(404);
});

test("statistics count each CVE and device once", async () => {
  expect((await get<CveStats>("cve/stats")).body).toEqual({
    total_matched: 4, by_severity: { critical: 1, high: 1, medium: 1, low: 0 }, known_exploited: 1, affected_devices: 2, last_db_update: null, db_total_cves: 0,
  });
  await suppress({ device_id: device.id, reason: "a test machine" });
  expect((await get<CveStats>(`cve/stats?site_id=${tenant.siteId}`)).body).toMatchObject({ total_matched: 4, affected_devices: 1 });
});

test.each([0, 1000])("a suppression takes what it fits out of what counts, until it ends, with %d other services", async (services) => {
  await seedMany(services);
  const { status, made } = await suppress({ cve_id: "cve-2024-0003", product: OPENSSH, reason: "LoginGraceTime is 0", expires_at: "2026-03-01T00:00:00.000Z" });
  expect([status, made]).toEqual([201, {
    id: made.id, cve_id: "CVE-2024-0003", product: OPENSSH, device_id: null, site_id: null, reason: "LoginGraceTime is 0", created_by: made.created_by,
    created_at: "2026-02-01T00:00:00.000Z", expires_at: "2026-03-01T00:00:00.000Z",
  }]);
  expect([await ids(), await ids("?status=suppressed"), await ids("?status=open,suppressed")]).toEqual(["214", "3", "3214"]);
  const [shown] = (await affected("?status=suppressed")).data;
  expect(shown?.affected_devices[0]).toMatchObject({ status: "suppressed", suppression: { id: made.id, reason: "LoginGraceTime is 0" } });
  const changed = await gateway.call("PUT", `/api/v1/cve/suppressions/${made.id}`, tenant.token, { expires_at: null });
  expect([changed.status, changed.body]).toEqual([200, { ...made, expires_at: null }]);
  expect((await gateway.call("DELETE", `/api/v1/cve/suppressions/${made.id}`, tenant.token)).status).toBe(204);
  expect([await ids(), (await get(`cve/suppressions/${made.id}`)).status]).toEqual(["3214", 404]);
  const actions = (await gateway.db.selectFrom("audit").select("action").orderBy("id").execute()).map(({ action }) => action);
  expect(actions.filter((action) => action.startsWith("cve_"))).toEqual(["cve_suppression.create", "cve_suppression.update", "cve_suppression.delete"]);
});

test("a CVE of two pieces of software of one device is of one device", async () => {
  const second = await seedSoftware(gateway.db, { product: OPENSSH, version: "9.1" }, [{ cve_id: "CVE-2024-0001" }]);
  await seedService(gateway.db, device, { id: second, product: OPENSSH }, { port: 23 });
  const totals = async () => (await affected()).data.map(({ cve_id: id, affected_devices_total: total }) => [id.slice(-1), total]);
  expect(await totals()).toEqual([["3", 2], ["2", 2], ["1", 2], ["4", 2]]);
  expect((await affected("?search=2024-0001")).data[0]?.affected_devices).toHaveLength(3);
  await suppress({ cve_id: "CVE-2024-0001", device_id: device.id, reason: "isolated" });
  expect(await totals()).toEqual([["3", 2], ["2", 2], ["1", 1], ["4", 2]]);
});

test.each([0, 1000])("a suppression of a device or a site leaves the others, with %d other services", async (services) => {
  await seedMany(services);
  await suppress({ cve_id: "CVE-2024-0001", device_id: device.id, reason: "isolated" });
  const rest = (await affected()).data.find(({ cve_id: id }) => id === "CVE-2024-0001");
  expect([rest?.affected_devices_total, rest?.affected_devices.map(({ device_id: id }) => id)]).toEqual([1, [other.id]]);
  expect([await ids(`?device_id=${device.id}`), await ids(`?device_id=${other.id}`)]).toEqual(["324", "3214"]);
  await suppress({ device_id: other.id, reason: "a honeypot" });
  expect([await ids(), await ids("?status=suppressed")]).toEqual(["324", "3214"]);
  await suppress({ product: OPENSSH, site_id: tenant.siteId, reason: "replaced next week" });
  expect([await ids(), (await get<CveStats>("cve/stats")).body.affected_devices]).toEqual(["", 0]);
});

test("a suppression must say where and why, and may end only in the future; there are not more than a thousand", async () => {
  for (const body of [
    { reason: "x" }, { cve_id: "CVE-2024-0001", reason: "x" }, { product: OPENSSH }, { product: OPENSSH, reason: "  " }, { product: "ssh", reason: "x" }, { product: OPENSSH, reason: "x", tenant_id: "y" },
    { product: OPENSSH, cve_id: "2024", reason: "x" }, { product: OPENSSH, reason: "x", expires_at: "2026-01-01T00:00:00.000Z" }, { product: OPENSSH, reason: "x".repeat(1025) },
    { product: `a:${"b".repeat(400)}`, reason: "x" },
  ]) expect([body, (await suppress(body)).status]).toEqual([body, 400]);
  await gateway.db.insertInto("cve_suppressions").values(Array.from({ length: 1000 }, (_, index) => ({
    id: `01990000-0000-7000-8000-${String(index).padStart(12, "0")}`, tenant_id: tenant.tenantId, cve_id: `CVE-2020-${1000 + index}`, product: OPENSSH, device_id: null, site_id: null,
    reason: "x", created_by: "x", created_at: "2026-01-01T00:00:00.000Z", expires_at: null,
  }))).execute();
  expect([(await suppress({ product: OPENSSH, reason: "x" })).status, await ids()]).toEqual([409, "3214"]);
  const viewer = await gateway.createUser(tenant, "viewer");
  expect((await suppress({ product: OPENSSH, reason: "x" }, viewer.token)).status).toBe(403);
});

test("what was updated is resolved, and keeps when it was first and last seen", async () => {
  const fixed = await seedSoftware(gateway.db, { product: OPENSSH, version: "9.7" }, [{ cve_id: "CVE-2024-0001", since: LATER }]);
  await gateway.db.updateTable("service_software").set({ until: LATER }).where("device_id", "=", device.id).execute();
  await seedService(gateway.db, device, { id: fixed, product: OPENSSH }, { since: LATER });
  expect([await ids(`?device_id=${device.id}`), await ids(`?device_id=${device.id}&status=resolved`)]).toEqual(["1", "324"]);
  const [kept] = (await affected(`?device_id=${device.id}`)).data;
  expect(kept?.affected_devices[0]).toMatchObject({ version: "9.7", first_seen: "2026-01-01T00:00:00.000Z", status: "open" });
  const [gone] = (await affected(`?device_id=${device.id}&status=resolved`)).data;
  expect(gone?.affected_devices[0]).toMatchObject({ version: "1:9.2p1-2+deb12u2", last_seen: LATER, status: "resolved" });
});

test("a device shows its CVEs, what counts first, and each service how many", async () => {
  await gateway.db.insertInto("ports").values({
    device_id: device.id, tenant_id: tenant.tenantId, port: 22, protocol: "tcp", state: "open", service: "ssh", version: "OpenSSH 9.2p1", banner: "", last_scanned: LATER,
  }).execute();
  await suppress({ cve_id: "CVE-2024-0003", device_id: device.id, reason: "mitigated" });
  const { body } = await get<DeviceProfile>(`devices/${device.id}`);
  expect(body.cves.map(({ cve_id: id, status }) => [id.slice(-1), status])).toEqual([
    ["2", "open"], ["1", "open"], ["4", "open"], ["3", "suppressed"], ["6", "open"], ["5", "patched-by-distribution"],
  ]);
  expect(body.cves[0]).toMatchObject({ matched_service: "ssh", matched_port: 22, severity: "medium", last_seen: LATER });
  expect(body.services).toMatchObject([{ port: 22, open_cves: 3 }]);
});

test("the export has a line for each match, and no formula", async () => {
  await gateway.db.updateTable("devices").set({ hostname: "=cmd()" }).where("id", "=", device.id).execute();
  const text = await csv("?severity=critical,high");
  const lines = text.trimEnd().split("\r\n");
  expect([lines.length, lines[0]?.startsWith("cve_id,severity,cvss_score,known_exploited,epss,")]).toEqual([5, true]);
  expect(lines[1]).toContain("CVE-2024-0003,high,7,true,,2024-07-01,open,confirmed");
  expect(text).toContain(",'=cmd(),");
});

test("devices are found by the severity of what counts for them", async () => {
  await gateway.createDevice(tenant, { ip: "10.0.0.7" });
  const devices = async (filter: string) => {
    const { status, body } = await get<List<{ readonly ip: string }>>(`devices?filter=${encodeURIComponent(filter)}`);
    expect([filter, status]).toEqual([filter, 200]);
    expect(body.meta.total).toBe(body.data.length);
    return body.data.map(({ ip }) => ip.slice(-1)).join("");
  };
  expect([await devices("cve:critical"), await devices("-cve:>=medium"), await devices("cve:low"), await devices("cve:>=low subnet:10.0.0.6")]).toEqual(["56", "7", "", "6"]);
  await suppress({ cve_id: "CVE-2024-0001", device_id: device.id, reason: "tried" });
  expect([await devices("cve:critical"), await devices("cve:medium"), await devices("-cve:critical")]).toEqual(["6", "56", "57"]);
  await suppress({ product: OPENSSH, reason: "all" });
  expect([await devices("cve:>=none"), await devices("-cve:>=none")]).toEqual(["", "567"]);
});
