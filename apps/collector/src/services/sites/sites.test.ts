import { AuditRecord, listEnvelope, ProbeConfiguration, probeTopic, Site, SiteSummary } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createRequest } from "../../certificates/testing/request.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { startStack } from "../agents/testing/stack.ts";

async function start() {
  const server = await startGateway();
  const { token, ...tenant } = await server.createTenant("admin");
  const call = (method: string, path: string, body?: unknown) => server.call(method, `/api/v1/sites${path}`, token, body);
  const audited = async () => {
    const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit?target=site", token)).body);
    return data.map(({ action, target, before, after }) => ({ action, id: target.id, before, after }));
  };
  return { server, tenant, token, call, audited };
}

const DEFAULTS = {
  sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 },
  excluded: [],
  scan_networks: [],
  time_zone: null,
  configuration_revision: 0,
};

describe("a site", () => {
  test("is created with its probes' settings, and read, listed and changed", async () => {
    const { call, audited } = await start();
    const made = await call("POST", "", { name: "Store 12" });
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/sites/${(made.body as Site).id}`]);
    const site = Site.parse(made.body);
    expect(site).toMatchObject({ name: "Store 12", ...DEFAULTS });
    const changed = await call("PUT", `/${site.id}`, {
      sweep: { interval_seconds: 600 },
      excluded: ["10.0.0.9/24", "10.0.0.0/24", "2001:DB8:0:0::1", "::ffff:10.1.2.3"],
      scan_networks: ["10.0.0.0/8"],
    });
    expect(Site.parse(changed.body)).toEqual({
      ...site,
      sweep: { ...DEFAULTS.sweep, interval_seconds: 600 },
      excluded: ["10.0.0.0/24", "2001:db8::1", "10.1.2.3"],
      scan_networks: ["10.0.0.0/8"],
      configuration_revision: 1,
    });
    const renamed = Site.parse((await call("PUT", `/${site.id}`, { name: " Store 13 " })).body);
    expect(renamed).toEqual({ ...Site.parse(changed.body), name: "Store 13", configuration_revision: 2 });
    expect((await call("GET", `/${site.id}`)).body).toEqual(renamed);
    expect(
      listEnvelope(Site)
        .parse((await call("GET", "")).body)
        .data.map(({ name }) => name),
    ).toEqual(["site", "Store 13"]);
    expect((await audited()).map(({ action }) => action)).toEqual(["site.update", "site.update", "site.create"]);
    expect((await audited())[0]).toMatchObject({ id: site.id, before: { name: "Store 12" }, after: { name: "Store 13" } });
  });

  test("has a time zone where somebody has said it", async () => {
    const { call } = await start();
    const site = Site.parse((await call("POST", "", { name: "Store 12", time_zone: "Asia/Tokyo" })).body);
    expect(site.time_zone).toBe("Asia/Tokyo");
    const read = async (change: object) => Site.parse((await call("PUT", `/${site.id}`, change)).body).time_zone;
    expect([await read({ name: "Store 13" }), await read({ time_zone: "America/Argentina/Buenos_Aires" }), await read({ time_zone: null })])
      .toEqual(["Asia/Tokyo", "America/Argentina/Buenos_Aires", null]);
  });

  test.each([
    ["a time zone that is none", { name: "a", time_zone: "Europe/Atlantis" }, "time_zone"],
    ["an offset for a time zone", { name: "a", time_zone: "+02:00" }, "time_zone"],
    ["no name", {}, "name"],
    ["an empty name", { name: "  " }, "name"],
    ["an unknown field", { name: "a", color: "red" }, "color"],
    ["an address that is none", { name: "a", excluded: ["10.0.0.0/24", "10.0.0.256"] }, "excluded.1"],
    ["a prefix that is too long", { name: "a", scan_networks: ["10.0.0.0/33"] }, "scan_networks.0"],
    ["a name for an address", { name: "a", excluded: ["host.example"] }, "excluded.0"],
    ["a sweep faster than can be", { name: "a", sweep: { packets_per_second: 10_001 } }, "sweep.packets_per_second"],
    ["an unknown field of the sweep", { name: "a", sweep: { speed: 1 } }, "sweep.speed"],
  ])("is refused with the place for %s", async (_, body, path) => {
    const { call } = await start();
    const answer = await call("POST", "", body);
    expect([answer.status, answer.error.code, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, "BAD_REQUEST", path]);
  });

  test("has a name of its own in its tenant", async () => {
    const { server, call, audited } = await start();
    const { id } = Site.parse((await call("POST", "", { name: "a" })).body);
    expect((await call("POST", "", { name: "a" })).error.code).toBe("CONFLICT");
    expect((await call("PUT", `/${id}`, { name: "site" })).error.code).toBe("CONFLICT");
    expect((await call("GET", `/${id}`)).body).toMatchObject({ name: "a", configuration_revision: 0 });
    expect((await call("PUT", `/${id}`, { name: "a" })).status).toBe(200);
    const other = await server.createTenant("admin");
    expect((await server.call("POST", "/api/v1/sites", other.token, { name: "a" })).status).toBe(201);
    expect((await audited()).map(({ action }) => action)).toEqual(["site.update", "site.create"]);
  });

  test("is deleted when nothing stands on it, with its tokens and revoked probes", async () => {
    const { server, tenant, call, audited } = await start();
    const device = await server.createDevice({ ...tenant, token: "" }, { ip: "10.0.0.1" });
    const probe = {
      id: createId(),
      tenant_id: tenant.tenantId,
      site_id: tenant.siteId,
      name: "box",
      enrolled_at: "",
      revoked_at: null,
      certificate_serial: "",
      certificate_expires_at: "",
      version: "",
      state: "enrolled",
      silent_since: null,
      last_heard_at: null,
      run_id: null,
      health: null,
    };
    await server.db.insertInto("probes").values(probe).execute();
    await server.db
      .insertInto("enrollment_tokens")
      .values({
        id: createId(),
        tenant_id: tenant.tenantId,
        site_id: tenant.siteId,
        secret_sha256: "x",
        created_by: tenant.userId,
        created_at: "",
        expires_at: "",
        used_at: null,
        probe_id: null,
      })
      .execute();
    const refused = await call("DELETE", `/${tenant.siteId}`);
    expect([refused.status, refused.error.code, refused.error.details]).toEqual([409, "CONFLICT", { probes: 1, devices: 1 }]);
    await server.db.deleteFrom("devices").where("id", "=", device).execute();
    expect((await call("DELETE", `/${tenant.siteId}`)).error.details).toEqual({ probes: 1, devices: 0 });
    await server.db.updateTable("probes").set({ revoked_at: "2026-01-01T00:00:00.000Z" }).execute();
    expect((await call("DELETE", `/${tenant.siteId}`)).status).toBe(204);
    expect((await call("GET", `/${tenant.siteId}`)).status).toBe(404);
    expect((await call("DELETE", `/${tenant.siteId}`)).status).toBe(404);
    for (const table of ["probes", "enrollment_tokens", "device_counts"] as const)
      expect(await server.db.selectFrom(table).selectAll().execute()).toEqual([]);
    expect(await audited()).toMatchObject([{ action: "site.delete", id: tenant.siteId, before: { name: "site" }, after: null }]);
  });

  test("is nobody else's", async () => {
    const { server, tenant, call } = await start();
    const other = await server.createTenant("admin");
    for (const [method, body] of [["GET"], ["PUT", { name: "mine" }], ["DELETE"]] as const) {
      expect((await server.call(method, `/api/v1/sites/${tenant.siteId}`, other.token, body)).status).toBe(404);
    }
    expect((await call("GET", `/${tenant.siteId}`)).body).toMatchObject({ name: "site" });
  });
});

test("a change is sent to the site's probes at once, and again when they reconnect", async () => {
  const stack = await startStack();
  try {
    const { key, request } = await createRequest();
    const { body: token } = await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } });
    const { body: probe } = await stack.call("POST", "/api/v1/agents/enroll", {
      body: { token: token.token, certificate_request: request, name: "box" },
    });
    const client = await stack.connect(probe.probe_id, { key, certificate: probe.certificate });
    const received: ProbeConfiguration[] = [];
    client.on("message", (_topic, payload) => received.push(ProbeConfiguration.parse(JSON.parse(payload.toString()))));
    const topic = (channel: "config" | "status") => probeTopic(stack.tenantId, probe.probe_id, channel);
    await client.subscribeAsync(topic("config"), { qos: 1 });
    const online = () =>
      client.publishAsync(
        topic("status"),
        JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at: new Date().toISOString() }),
        { qos: 1 },
      );
    await online();
    await expect.poll(() => received.at(-1)).toMatchObject({ revision: 0, site_name: "site", excluded: [] });
    expect((await stack.call("PUT", `/api/v1/sites/${stack.siteId}`, { body: { excluded: ["10.0.0.1"] } })).status).toBe(200);
    await expect.poll(() => received.at(-1)).toMatchObject({ revision: 1, excluded: ["10.0.0.1"] });
    await online();
    await expect.poll(() => received.length).toBe(3);
    expect(received.at(-1)).toEqual(received.at(-2));
    client.end(true);
  } finally {
    await stack.close();
  }
});

describe("a summary of sites", () => {
  test("has the numbers of the lists, of the own tenant's alone", async () => {
    const { server, tenant, token, call } = await start();
    const { id: second } = Site.parse((await call("POST", "", { name: "Store 12" })).body);
    const own = { ...tenant, token: "" };
    await server.createDevice(own, { ip: "10.0.0.1", is_online: 1 });
    await server.createDevice(own, { ip: "10.0.0.2", is_online: 0 });
    await server.createDevice(own, { ip: "10.0.0.3", is_online: 1, site_id: second });
    const alert = {
      tenant_id: tenant.tenantId, source: "rogue", type: "rogue_dhcp", subject: "x", title: "x", description: "", first_seen: "2026-01-01T00:00:00.000Z",
      last_seen: "2026-01-01T00:00:00.000Z", severity: "high", severity_rank: 4, status: "open", count: 1, evidence: "[]", mitre_techniques: "[]", device_ip: "", notified: 0,
    };
    for (const values of [{ site_id: second }, { site_id: second, severity: "low" }, { site_id: tenant.siteId, status: "resolved" }, { site_id: null }]) {
      await server.db.insertInto("alerts").values({ id: createId(), ...alert, ...values }).execute();
    }
    const { data, meta } = listEnvelope(SiteSummary).parse((await call("GET", "/summary")).body);
    const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
    expect([data, meta.total]).toEqual([[
      { site_id: tenant.siteId, name: "site", devices: { total: 2, online: 1 }, alerts: none, probes: { total: 0, online: 0, silent: 0 } },
      { site_id: second, name: "Store 12", devices: { total: 1, online: 1 }, alerts: { ...none, high: 1, low: 1 }, probes: { total: 0, online: 0, silent: 0 } },
    ], 2]);
    expect((await call("GET", `/${second}/summary`)).body).toEqual(data[1]);
    const filter = encodeURIComponent(`severity:high status:open site:${second}`);
    expect((await server.get(`/api/v1/alerts?filter=${filter}`, token)).body).toMatchObject({ meta: { total: data[1]?.alerts.high } });
    const other = await server.createTenant("admin");
    expect((await server.get(`/api/v1/sites/${second}/summary`, other.token)).status).toBe(404);
    expect((await server.get("/api/v1/sites/summary", other.token)).body).toMatchObject({ meta: { total: 1 }, data: [{ devices: { total: 0 }, alerts: none }] });
    expect((await call("GET", "/summary?search=store")).body).toMatchObject({ data: [{ name: "Store 12" }] });
  });
});
