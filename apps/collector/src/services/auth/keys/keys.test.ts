import {
  type ApiKey,
  ApiKey as ApiKeySchema,
  ApiKeyCreated,
  AuditRecord,
  listEnvelope,
  type Scope,
  StreamTicket,
} from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { startGateway } from "../../../testing/gateway-for-test.ts";
import { openWebSocket } from "../../../testing/upgrade.ts";

const KEYS = "/api/v1/auth/keys";

async function makeKey(server: TestGateway, { token }: TestTenant, scopes: readonly Scope[], more: object = {}): Promise<ApiKeyCreated> {
  const answer = await server.call("POST", KEYS, token, { name: "script", scopes, ...more });
  expect(answer.status).toBe(201);
  return ApiKeyCreated.parse(answer.body);
}

async function listed(server: TestGateway, { token }: TestTenant, query = ""): Promise<readonly ApiKey[]> {
  return listEnvelope(ApiKeySchema).parse((await server.get(`${KEYS}${query}`, token)).body).data;
}

describe("an API key", () => {
  test("has the specified form, is shown once, and is kept as its hash", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("operator");
    const { key, ...record } = await makeKey(server, tenant, ["devices:read", "alerts:read"]);
    expect(key).toMatch(/^svc_live_[0-9a-f]{48}$/);
    expect(record).toMatchObject({
      name: "script",
      hint: key.slice(0, 13),
      scopes: ["devices:read", "alerts:read"],
      created_by: { id: tenant.userId, username: tenant.username },
      expires_at: null,
      last_used_at: null,
    });
    expect(await listed(server, tenant)).toEqual([record]);
    const kept = JSON.stringify([
      await server.db.selectFrom("api_keys").selectAll().execute(),
      await server.db.selectFrom("audit").selectAll().execute(),
    ]);
    expect(kept).not.toContain(key.slice("svc_live_".length + 8));
  });

  test("is read by its Location and changed; what it may do changes at once", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("operator");
    const made = await server.call("POST", KEYS, tenant.token, { name: "script", scopes: ["devices:read", "alerts:read"] });
    const { key, ...record } = ApiKeyCreated.parse(made.body);
    const path = made.headers.get("location") ?? "";
    expect((await server.get(path, tenant.token)).body).toEqual(record);
    const changed = await server.call("PUT", path, tenant.token, {
      name: "other", scopes: ["alerts:read"], expires_at: "2099-01-01T01:00:00+01:00",
    });
    expect(changed.body).toEqual({ ...record, name: "other", scopes: ["alerts:read"], expires_at: "2099-01-01T00:00:00.000Z" });
    expect((await server.call("GET", "/api/v1/devices", key)).error.details).toEqual({ required: "devices:read" });
    expect((await server.call("PUT", path, tenant.token, { expires_at: null })).body).toMatchObject({ name: "other", expires_at: null });
    const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit?action=api_key.update", (
      await server.createUser(tenant, "admin")).token)).body);
    expect(data.map(({ after }) => after?.["expires_at"])).toEqual([null, "2099-01-01T00:00:00.000Z"]);
  });

  test("is changed to no more than the caller may do, not for another user without users:write, and to no end in the past", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("operator");
    const [colleague, admin] = [await server.createUser(tenant, "operator"), await server.createUser(tenant, "admin")];
    const { id } = await makeKey(server, tenant, ["devices:read"]);
    const change = (token: string, body: object) => server.call("PUT", `${KEYS}/${id}`, token, body);
    expect((await change(tenant.token, { scopes: ["users:write"] })).error.details).toEqual({ required: "users:write" });
    expect((await change(tenant.token, { expires_at: "2020-01-01T00:00:00Z" })).status).toBe(400);
    expect((await change(tenant.token, { scopes: [] })).status).toBe(400);
    for (const token of [colleague.token, (await server.createTenant("admin")).token]) {
      expect((await change(token, { name: "mine" })).status).toBe(404);
      expect((await server.get(`${KEYS}/${id}`, token)).status).toBe(404);
    }
    // An administrator may; the key still does no more than its maker may.
    expect((await change(admin.token, { scopes: ["devices:read", "users:read"] })).status).toBe(200);
    expect(await listed(server, admin, "?scope=users:read&search=SCRIPT")).toHaveLength(1);
    expect(await listed(server, admin, "?scope=users:write")).toEqual([]);
  });

  test("may do what its scopes say and nothing else, in its tenant", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const id = await server.createDevice(tenant, { ip: "10.0.0.1" });
    const other = await server.createTenant("admin");
    const { key } = await makeKey(server, tenant, ["devices:read"]);
    expect((await server.call("GET", "/api/v1/devices", key)).body).toMatchObject({ data: [{ id }] });
    expect((await server.call("GET", "/api/v1/audit", key)).error.details).toEqual({ required: "audit:read" });
    expect((await server.call("GET", `/api/v1/sites/${tenant.siteId}`, key)).error.details).toEqual({ required: "agents:read" });
    const { key: foreign } = await makeKey(server, other, ["devices:read"]);
    expect((await server.call("GET", `/api/v1/devices/${id}`, foreign)).status).toBe(404);
  });

  test("is no person: it makes no keys, changes no password, refreshes and ends nothing", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const { key, id } = await makeKey(server, tenant, ["users:write", "users:read"]);
    for (const [method, path, body] of [
      ["GET", KEYS],
      ["POST", KEYS, { name: "x", scopes: ["users:read"] }],
      ["DELETE", `${KEYS}/${id}`],
      ["POST", "/api/v1/auth/refresh"],
      ["POST", "/api/v1/auth/logout"],
      ["POST", "/api/v1/auth/password", { old_password: "password", new_password: "a new long password" }],
    ] as const) {
      const answer = await server.call(method, path, key, body);
      expect([path, answer.status, answer.error.details]).toEqual([path, 403, { required: "signed-in" }]);
    }
  });

  test.each([
    ["unknown", `svc_live_${"0".repeat(48)}`],
    ["too short", "svc_live_00"],
    ["in capitals", `svc_live_${"A".repeat(48)}`],
    ["empty", ""],
    ["with an injection", "svc_live_' or '1'='1"],
  ])("that is %s is refused", async (_, key) => {
    const server = await startGateway();
    await makeKey(server, await server.createTenant("admin"), ["devices:read"]);
    const answer = await server.request("/api/v1/devices", { headers: { "x-api-key": key } });
    expect([answer.status, answer.error.code]).toEqual([401, "UNAUTHORIZED"]);
  });

  test("together with a token is refused, whichever of the two is good", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const { key } = await makeKey(server, tenant, ["devices:read"]);
    for (const headers of [
      { "x-api-key": key, authorization: `Bearer ${tenant.token}` },
      { "x-api-key": "x", authorization: `Bearer ${tenant.token}` },
      { "x-api-key": key, authorization: "Bearer x" },
    ]) {
      expect((await server.request("/api/v1/devices", { headers })).error).toMatchObject({
        code: "UNAUTHORIZED",
        message: "send a token or an API key, not both",
      });
    }
  });

  test("never has more than its maker, neither when it is made nor later", async () => {
    const server = await startGateway();
    const admin = await server.createTenant("admin");
    const operator = await server.createUser(admin, "operator");
    const refused = await server.call("POST", KEYS, operator.token, { name: "x", scopes: ["devices:write", "users:read"] });
    expect([refused.status, refused.error.details]).toEqual([403, { required: "users:read" }]);
    const { key, id } = await makeKey(server, operator, ["devices:read", "webhooks:write", "agents:read"]);
    expect((await server.call("GET", "/api/v1/sites", key)).status).toBe(200);
    expect((await server.call("PUT", `/api/v1/users/${operator.userId}`, admin.token, { role: "viewer" })).status).toBe(200);
    expect((await server.call("GET", "/api/v1/sites", key)).status).toBe(200);
    await server.db.updateTable("api_keys").set({ scopes: '["users:read","devices:read"]' }).where("id", "=", id).execute();
    expect((await server.call("GET", "/api/v1/users", key)).error.details).toEqual({ required: "users:read" });
    expect((await server.call("GET", "/api/v1/devices", key)).status).toBe(200);
  });

  test("ends with its maker, at its end, and with its revocation", async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1));
    const server = await startGateway({ clock });
    const admin = await server.createTenant("admin");
    const operator = await server.createUser(admin, "operator");
    const scopes: Scope[] = ["devices:read"];
    const [gone, revoked] = [await makeKey(server, operator, scopes), await makeKey(server, admin, scopes)];
    expect((await server.call("POST", KEYS, admin.token, { name: "x", scopes, expires_at: "2026-06-01T02:00:00+02:00" })).status).toBe(400);
    const soon = await makeKey(server, admin, scopes, { expires_at: "2026-06-01T03:00:00+02:00" });
    expect(soon.expires_at).toBe("2026-06-01T01:00:00.000Z");
    const status = async ({ key }: { key: string }) => (await server.call("GET", "/api/v1/devices", key)).status;
    expect([await status(gone), await status(soon), await status(revoked)]).toEqual([200, 200, 200]);
    expect((await server.call("DELETE", `/api/v1/users/${operator.userId}`, admin.token)).status).toBe(204);
    expect((await server.call("DELETE", `${KEYS}/${revoked.id}`, admin.token)).status).toBe(204);
    expect((await server.call("DELETE", `${KEYS}/${revoked.id}`, admin.token)).status).toBe(404);
    await clock.leap(3_600_000);
    expect([await status(gone), await status(soon), await status(revoked)]).toEqual([401, 401, 401]);
    expect((await listed(server, admin)).map(({ id }) => id)).toEqual([soon.id]);
    const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit?target=api_key", admin.token)).body);
    expect(data.map(({ action, target, before }) => [action, target.id, before?.["name"]])).toEqual([
      ["api_key.delete", revoked.id, "script"],
      ["api_key.create", soon.id, undefined],
      ["api_key.create", revoked.id, undefined],
      ["api_key.create", gone.id, undefined],
    ]);
  });

  test("is seen and ended by its maker and by who may write users, and by nobody else", async () => {
    const server = await startGateway();
    const admin = await server.createTenant("admin");
    const [one, two, stranger] = [
      await server.createUser(admin, "viewer"),
      await server.createUser(admin, "operator"),
      await server.createTenant("admin"),
    ];
    const [first, second] = [await makeKey(server, one, ["devices:read"]), await makeKey(server, two, ["devices:read"])];
    const ids = async (user: TestTenant, query?: string) => (await listed(server, user, query)).map(({ id }) => id);
    expect([await ids(admin), await ids(one), await ids(two), await ids(stranger)]).toEqual([
      [first.id, second.id],
      [first.id],
      [second.id],
      [],
    ]);
    expect(await ids(admin, `?user_id=${two.userId}`)).toEqual([second.id]);
    expect((await server.get(`${KEYS}?user_id=${two.userId}`, one.token)).error.details).toEqual({ required: "users:read" });
    expect((await server.call("DELETE", `${KEYS}/${first.id}`, two.token)).status).toBe(404);
    expect((await server.call("DELETE", `${KEYS}/${first.id}`, stranger.token)).status).toBe(404);
    expect((await server.call("DELETE", `${KEYS}/${first.id}`, admin.token)).status).toBe(204);
    expect((await server.call("DELETE", `${KEYS}/${second.id}`, two.token)).status).toBe(204);
  });

  test("is counted in the Service tier, and its use is remembered to the minute", async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1));
    const tier = (perMinute: number) => ({ perMinute, burst: 100 });
    const server = await startGateway({ clock, tiers: { standard: tier(60), admin: tier(120), service: tier(300) } });
    const tenant = await server.createTenant("admin");
    const { key } = await makeKey(server, tenant, ["devices:read"]);
    expect((await server.call("GET", "/api/v1/devices", key)).headers.get("x-ratelimit-limit")).toBe("300");
    expect((await listed(server, tenant))[0]?.last_used_at).toBeNull();
    await clock.advance(60_000);
    await expect.poll(async () => (await listed(server, tenant))[0]?.last_used_at).toBe("2026-06-01T00:00:00.000Z");
  });

  test("names itself in the audit log when it writes", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const { key, id } = await makeKey(server, tenant, ["agents:write"]);
    expect((await server.call("POST", "/api/v1/sites", key, { name: "a" })).status).toBe(201);
    const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit?action=site", tenant.token)).body);
    expect(data[0]?.actor).toEqual({ type: "key", id, name: "script", address: "127.0.0.1" });
  });

  test("is refused as a wish with the place of the fault", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant("admin");
    for (const [body, path] of [
      [{ name: "x", scopes: [] }, "scopes"],
      [{ name: "x", scopes: ["devices:all"] }, "scopes.0"],
      [{ name: " ", scopes: ["devices:read"] }, "name"],
      [{ name: "x", scopes: ["devices:read"], expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
      [{ name: "x", scopes: ["devices:read"], key: "svc_live_1" }, "key"],
    ] as const) {
      const answer = await server.call("POST", KEYS, token, body);
      expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
    }
  });
});

describe("a stream ticket", () => {
  const open = async (server: TestGateway, ticket: string): Promise<number> => {
    const upgrade = await openWebSocket(`${server.url}/ws/events?ticket=${ticket}`);
    if ("status" in upgrade) return upgrade.status;
    upgrade.socket.terminate();
    return 101;
  };
  const make = async (server: TestGateway, credential: string) =>
    StreamTicket.parse((await server.call("POST", "/api/v1/ws/ticket", credential)).body);

  test("opens one stream, for a token's bearer or a key's, at any replica", async () => {
    const server = await startGateway();
    const replica = await startTestGateway({ dataDir: server.dataDir });
    const tenant = await server.createTenant("viewer");
    const { key } = await makeKey(server, tenant, ["devices:read"]);
    for (const credential of [tenant.token, key]) {
      const { ticket } = await make(server, credential);
      expect(ticket).not.toContain(".");
      expect([await open(replica, ticket), await open(server, ticket), await open(replica, ticket)]).toEqual([101, 401, 401]);
    }
    const { ticket } = await make(server, tenant.token);
    const both = await Promise.all([open(server, ticket), open(replica, ticket)]);
    expect(new Set(both)).toEqual(new Set([101, 401]));
    expect((await server.db.selectFrom("stream_tickets").selectAll().execute()).length).toBe(0);
    await replica.stop({ keep: true });
  });

  test("is worth nothing after 30 s, after its bearer's token or key has ended, or when it was never made", async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1));
    const server = await startGateway({ clock });
    const tenant = await server.createTenant("viewer");
    const { key, id } = await makeKey(server, tenant, ["devices:read"]);
    const late = await make(server, tenant.token);
    await clock.advance(30_000);
    const [ofKey, ofToken] = [await make(server, key), await make(server, tenant.token)];
    await server.call("DELETE", `${KEYS}/${id}`, tenant.token);
    await server.call("POST", "/api/v1/auth/logout", tenant.token);
    for (const ticket of [late.ticket, ofKey.ticket, ofToken.ticket, "x", ""]) expect(await open(server, ticket)).toBe(401);
  });

  test("needs the scope that the stream needs", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const { key } = await makeKey(server, tenant, ["alerts:read"]);
    expect((await server.call("POST", "/api/v1/ws/ticket", key)).error.details).toEqual({ required: "devices:read" });
  });
});
