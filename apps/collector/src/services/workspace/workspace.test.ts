import { type AuditRecord, type List, MapPins, Preferences, View } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { openWorkspace } from "./open.ts";

let gateway: TestGateway;
let admin: TestTenant;
let viewer: TestTenant;
let stranger: TestTenant;
beforeEach(async () => {
  gateway = await startTestGateway({ modules: (parts) => [openWorkspace(parts)] });
  admin = await gateway.createTenant("admin");
  viewer = await gateway.createUser(admin, "viewer");
  stranger = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const call = (method: string, path: string, { token }: TestTenant, body?: unknown) => gateway.call(method, `/api/v1${path}`, token, body);
const save = async (who: TestTenant, view: object) => {
  const { status, body } = await call("POST", "/views", who, { list: "devices", name: "printers", ...view });
  expect([status, body]).toEqual([201, expect.anything()]);
  return View.parse(body);
};
const names = async (who: TestTenant, query = "") => ((await call("GET", `/views${query}`, who)).body as List<View>).data.map(({ name }) => name);

describe("a saved view", () => {
  test("is its user's alone until it is shared, and then everybody's of the tenant to see", async () => {
    const view = await save(viewer, { filter: "type:printer -tag:lab", sort: "-last_seen", columns: ["ip", "hostname"] });
    expect(view).toMatchObject({ shared: false, is_own: true, owner: { id: viewer.userId }, columns: ["ip", "hostname"] });
    expect([await names(viewer), await names(admin), await names(stranger)]).toEqual([["printers"], [], []]);
    for (const who of [admin, stranger]) expect((await call("GET", `/views/${view.id}`, who)).status).toBe(404);
    const shared = await save(admin, { name: "all", shared: true });
    await save(admin, { name: "open", list: "alerts", filter: "status:open" });
    expect([await names(viewer), await names(admin), await names(admin, "?list=alerts"), await names(stranger)]).toEqual([["printers", "all"], ["all", "open"], ["open"], []]);
    expect((await call("GET", `/views/${shared.id}`, viewer)).body).toMatchObject({ name: "all", is_own: false, owner: { username: admin.username } });
    expect((await call("PUT", `/views/${shared.id}`, viewer, { name: "mine" })).error.details).toEqual({ required: "users:write" });
    expect((await call("DELETE", `/views/${shared.id}`, viewer)).status).toBe(403);
    expect((await call("DELETE", `/views/${shared.id}`, stranger)).status).toBe(404);
  });

  test("is changed and deleted by its user, each in the audit log; nobody overwrites what another has changed", async () => {
    const view = await save(viewer, {});
    const before = await call("GET", `/views/${view.id}`, viewer);
    const changed = await call("PUT", `/views/${view.id}`, viewer, { name: "cameras", filter: "type:camera" });
    expect(changed.body).toMatchObject({ name: "cameras", filter: "type:camera", list: "devices" });
    const stale = await gateway.request(`/api/v1/views/${view.id}`, {
      method: "PUT", body: '{"name":"x"}',
      headers: { authorization: `Bearer ${viewer.token}`, "content-type": "application/json", "if-match": before.headers.get("etag") ?? "" },
    });
    expect([stale.status, stale.error.code]).toEqual([409, "CONFLICT"]);
    expect((await call("DELETE", `/views/${view.id}`, viewer)).status).toBe(204);
    expect((await call("DELETE", `/views/${view.id}`, viewer)).status).toBe(404);
    const { data } = (await call("GET", "/audit?action=view", admin)).body as List<AuditRecord>;
    expect(data.map(({ action, actor }) => [action, actor.id])).toEqual(["view.delete", "view.update", "view.create"].map((action) => [action, viewer.userId]));
  });

  test("is shared by who may change what it lists", async () => {
    expect((await call("POST", "/views", viewer, { list: "alerts", name: "x", shared: true })).error.details).toEqual({ required: "alerts:write" });
    const own = await save(viewer, {});
    expect((await call("PUT", `/views/${own.id}`, viewer, { shared: true })).error.details).toEqual({ required: "devices:write" });
    const operator = await gateway.createUser(admin, "operator");
    const shared = await save(operator, { shared: true });
    expect((await call("PUT", `/views/${shared.id}`, admin, { name: "renamed" })).body).toMatchObject({ name: "renamed", owner: { id: operator.userId }, is_own: false });
    await gateway.db.deleteFrom("users").where("id", "=", operator.userId).execute();
    expect(await names(admin)).toEqual([]);
  });

  test("that is shared is changed by nobody who may no longer share it, but taken back and deleted", async () => {
    const operator = await gateway.createUser(admin, "operator");
    const [kept, other] = [await save(operator, { shared: true }), await save(operator, { shared: true })];
    await gateway.db.updateTable("users").set({ role: "viewer" }).where("id", "=", operator.userId).execute();
    for (const change of [{ name: "mine" }, { filter: "type:camera" }, { columns: ["ip"] }, { shared: true }]) {
      expect((await call("PUT", `/views/${kept.id}`, operator, change)).error.details).toEqual({ required: "devices:write" });
    }
    expect((await call("GET", `/views/${kept.id}`, admin)).body).toMatchObject({ name: "printers", filter: "", shared: true });
    expect((await call("PUT", `/views/${kept.id}`, operator, { name: "mine", shared: false })).body).toMatchObject({ name: "mine", shared: false });
    expect((await call("PUT", `/views/${kept.id}`, operator, { name: "own" })).status).toBe(200);
    expect((await call("DELETE", `/views/${other.id}`, operator)).status).toBe(204);
  });

  test.each([
    ["a filter that is none", { filter: "type:toaster" }, "filter"], ["a filter of another list", { filter: "type:printer severity:loud", list: "alerts" }, "filter"],
    ["no name", { name: " " }, "name"], ["a name with a control character", { name: "a\u001b[31m" }, "name"], ["a long name", { name: "x".repeat(121) }, "name"],
    ["a column that is none", { columns: ["<b>"] }, "columns.0"], ["another list", { list: "users" }, "list"], ["an order that is none", { sort: "a;b" }, "sort"],
    ["very many columns", { columns: Array.from({ length: 65 }, (_, index) => `c${index}`) }, "columns"],
  ])("with %s is refused", async (_, view, path) => {
    const answer = await call("POST", "/views", viewer, { list: "devices", name: "x", ...view });
    expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
  });

  test("is one of a hundred at most, however they are made, and no API key's", async () => {
    for (let index = 0; index < 95; index += 1) await save(viewer, { name: `view ${index}` });
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => call("POST", "/views", viewer, { list: "devices", name: "x" })))).map(({ status }) => status);
    expect([statuses.filter((status) => status === 201).length, statuses.filter((status) => status === 409).length]).toEqual([5, 3]);
    const { body } = await call("POST", "/auth/keys", viewer, { name: "k", scopes: ["devices:read"] });
    const asKey = await gateway.request("/api/v1/views", { headers: { "x-api-key": (body as { key: string }).key } });
    expect(asKey.status).toBe(403);
  });
});

describe("preferences", () => {
  const read = async (who: TestTenant) => Preferences.parse((await call("GET", "/me/preferences", who)).body);

  test("are each user's own, and what is left out stays", async () => {
    const defaults = { theme: "system", zone: "local", single_keys: true, site_id: null, default_views: { devices: null, alerts: null }, columns: { devices: [] }, last_seen: null };
    expect(await read(viewer)).toEqual(defaults);
    const view = await save(viewer, {});
    await call("PUT", "/me/preferences", viewer, { theme: "dark", default_views: { devices: view.id } });
    await call("PUT", "/me/preferences", viewer, { columns: { devices: ["name", "seen"] } });
    const changed = await call("PUT", "/me/preferences", viewer, { zone: "utc", site_id: viewer.siteId, columns: {} });
    expect(changed.body).toEqual({ ...defaults, theme: "dark", zone: "utc", site_id: viewer.siteId, default_views: { devices: view.id, alerts: null }, columns: { devices: ["name", "seen"] } });
    expect([await read(viewer), await read(admin)]).toEqual([changed.body, defaults]);
    await call("DELETE", `/views/${view.id}`, viewer);
    expect((await read(viewer)).default_views).toEqual({ devices: null, alerts: null });
    expect(((await call("GET", "/audit?action=preferences", admin)).body as List<AuditRecord>).data).toHaveLength(3);
  });

  test("remember when their user looked last, without a word in the audit log", async () => {
    const audited = async () => ((await call("GET", "/audit?action=preferences", admin)).body as List<AuditRecord>).data.length;
    expect((await call("PUT", "/me/preferences", viewer, { last_seen: "2026-11-20T15:37:57.123Z" })).body).toMatchObject({ last_seen: "2026-11-20T15:37:57.123Z" });
    expect([(await read(viewer)).last_seen, (await read(admin)).last_seen, await audited()]).toEqual(["2026-11-20T15:37:57.123Z", null, 0]);
    await call("PUT", "/me/preferences", viewer, { last_seen: "2026-11-21T15:37:57.123Z", theme: "dark" });
    expect([(await read(viewer)).theme, await audited()]).toEqual(["dark", 1]);
    expect((await call("PUT", "/me/preferences", viewer, { last_seen: "yesterday" })).status).toBe(400);
  });

  test("name nothing that their user does not see", async () => {
    const hidden = await save(admin, {});
    const alerts = await save(viewer, { list: "alerts" });
    for (const change of [{ default_views: { devices: hidden.id } }, { default_views: { devices: alerts.id } }, { site_id: stranger.siteId }, { site_id: createId() }]) {
      expect((await call("PUT", "/me/preferences", viewer, change)).status).toBe(404);
    }
    for (const change of [{ theme: "pink" }, { zone: "cet" }, { colour: "red" }, { columns: { devices: ["<b>"] } }, { columns: { users: [] } }, { default_views: { users: alerts.id } }]) {
      expect((await call("PUT", "/me/preferences", viewer, change)).status).toBe(400);
    }
    expect((await read(viewer)).theme).toBe("system");
  });

  test("that an older or newer version has stored do not stop anybody", async () => {
    await gateway.db.insertInto("user_preferences").values({ user_id: viewer.userId, tenant_id: viewer.tenantId, preferences: '{"theme":"neon","zone":7}' }).execute();
    expect((await read(viewer)).theme).toBe("system");
  });
});

describe("the pins of a map", () => {
  const pins = async (who: TestTenant) => MapPins.parse((await call("GET", `/topology/pins/${admin.siteId}`, who)).body);

  test("are the tenant's, and set by who may change devices", async () => {
    expect(await pins(viewer)).toEqual({ site_id: admin.siteId, pins: [], updated_by: null, updated_at: null });
    const wanted = [{ node: createId(), x: 1.5, y: -20 }, { node: "neighbor:s:lldp:00:1b", x: 0, y: 0 }];
    expect((await call("PUT", `/topology/pins/${admin.siteId}`, viewer, { pins: wanted })).error.details).toEqual({ required: "devices:write" });
    expect((await call("PUT", `/topology/pins/${admin.siteId}`, stranger, { pins: wanted })).status).toBe(404);
    expect((await call("GET", `/topology/pins/${admin.siteId}`, stranger)).status).toBe(404);
    const set = await call("PUT", `/topology/pins/${admin.siteId}`, admin, { pins: wanted });
    expect(set.body).toMatchObject({ pins: wanted, updated_by: admin.username });
    expect((await pins(viewer)).pins).toEqual(wanted);
    await call("PUT", `/topology/pins/${admin.siteId}`, admin, { pins: [] });
    expect((await pins(viewer)).pins).toEqual([]);
  });

  test("of two who pin at once, one is asked to look again", async () => {
    const tag = (await call("GET", `/topology/pins/${admin.siteId}`, admin)).headers.get("etag") ?? "";
    const answers = await Promise.all([1, 2].map((x) => gateway.request(`/api/v1/topology/pins/${admin.siteId}`, {
      method: "PUT", headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json", "if-match": tag }, body: JSON.stringify({ pins: [{ node: "n", x, y: 0 }] }),
    })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test("are bounded", async () => {
    const pin = (index: number) => ({ node: `n${index}`, x: 0, y: 0 });
    const many = (count: number) => call("PUT", `/topology/pins/${admin.siteId}`, admin, { pins: Array.from({ length: count }, (_, index) => pin(index)) });
    expect([(await many(1000)).status, (await many(1001)).status]).toEqual([200, 400]);
    for (const wrong of [[pin(1), pin(1)], [{ node: "", x: 0, y: 0 }], [{ node: "n", x: 1e9, y: 0 }], [{ node: "n".repeat(513), x: 0, y: 0 }]]) {
      expect((await call("PUT", `/topology/pins/${admin.siteId}`, admin, { pins: wrong })).status).toBe(400);
    }
  });
});
