import { DeviceProfile } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/gateway.ts";

let gateway: TestGateway;
let tenant: TestTenant;
beforeEach(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const send = (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}, token = tenant.token) =>
  gateway.request(`/api/v1${path}`, {
    method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const tagOf = async (path: string) => (await send("GET", path)).headers.get("etag") ?? "";
const addDevice = async () => {
  const answer = await send("POST", "/devices", { ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" });
  return `/devices/${DeviceProfile.parse(answer.body).id}`;
};

describe("of many who write one state of a record at once", () => {
  test.each([
    ["a device", addDevice, (index: number) => ({ hostname: `name-${index}` })],
    ["a site", () => Promise.resolve(`/sites/${tenant.siteId}`), (index: number) => ({ name: `name-${index}` })],
  ])("one writes %s and the others are refused, so that no update is lost", async (_, make, change) => {
    const path = await make();
    const headers = { "if-match": await tagOf(path) };
    const answers = await Promise.all(Array.from({ length: 8 }, (_unused, index) => send("PUT", path, change(index), headers)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await send("GET", path)).body).toMatchObject(change(winner));
    expect(answers.find(({ status }) => status === 409)?.error).toMatchObject({ code: "CONFLICT", details: { etag: await tagOf(path) } });
    const audited = (await gateway.get("/api/v1/audit?action=device.update", tenant.token)).body as { data: unknown[] };
    if (path.startsWith("/devices")) expect(audited.data.length).toBe(1);
  });

  test("and one deletes, one of the two is refused", async () => {
    const path = await addDevice();
    const headers = { "if-match": await tagOf(path) };
    const [put, removed] = await Promise.all([send("PUT", path, { hostname: "kept" }, headers), send("DELETE", path, undefined, headers)]);
    expect([[200, 409], [404, 204], [409, 204]]).toContainEqual([put.status, removed.status]);
    expect((await send("GET", path)).status).toBe(put.status === 200 ? 200 : 404);
  });
});

test("a tag is of the whole record: what discovery learns makes another", async () => {
  const path = await addDevice();
  const tag = await tagOf(path);
  expect(await tagOf(path)).toBe(tag);
  await gateway.db.updateTable("devices").set({ os_guess: "Linux" }).execute();
  expect((await send("PUT", path, { hostname: "x" }, { "if-match": tag })).status).toBe(409);
  expect((await send("DELETE", path, undefined, { "if-match": tag })).status).toBe(409);
  expect((await send("DELETE", path, undefined, { "if-match": await tagOf(path) })).status).toBe(204);
  expect((await send("PUT", path, { hostname: "x" }, { "if-match": "*" })).status).toBe(404);
});

describe("a record that comes back whole", () => {
  test("sets and locks only what was changed in it, where a field alone is set and locked as it is", async () => {
    const path = await addDevice();
    const record = DeviceProfile.parse((await send("GET", path)).body);
    const changed = DeviceProfile.parse((await send("PUT", path, { ...record, tags: ["core"] })).body);
    expect([changed.locked_fields, changed.tags, changed.ip]).toEqual([["tags"], ["core"], "10.0.0.7"]);
    expect((await send("PUT", path, { ip: "10.0.0.7" })).body).toMatchObject({ locked_fields: ["ip", "tags"] });
    // Null still leaves a field to discovery.
    expect((await send("PUT", path, { ...changed, locked_fields: ["ip", "tags"], tags: null })).body).toMatchObject({ tags: [] });
  });

  test("with a read-only field changed is 400 and names each; what is of no record is still unknown", async () => {
    const path = await addDevice();
    const record = (await send("GET", path)).body as object;
    const answer = await send("PUT", path, { ...record, presence_state: "online", last_seen: "2026-01-01T00:00:00.000Z" });
    expect([answer.status, (answer.error.details as { path: string }[]).map((detail) => detail.path)])
      .toEqual([400, ["presence_state", "last_seen"]]);
    expect((await send("PUT", path, { ...record, colour: "red" })).status).toBe(400);
    expect((await send("PUT", path, { hostname: "x", id: null })).status).toBe(400);
    expect((await send("GET", path)).body).toEqual(record);
  });

  test("of another tenant is not there, with a tag or without", async () => {
    const path = await addDevice();
    const record = (await send("GET", path)).body as object;
    const other = await gateway.createTenant("admin");
    // To somebody else its fields are those of nothing that is there.
    expect((await send("PUT", path, record, {}, other.token)).status).toBe(400);
    for (const headers of [{}, { "if-match": await tagOf(path) }, { "if-match": '"x"' }]) {
      expect((await send("PUT", path, { hostname: "theirs" }, headers, other.token)).status).toBe(404);
      expect((await send("DELETE", path, undefined, headers, other.token)).status).toBe(404);
    }
  });

  test("needs the right to write and not the right to read, and is nothing to who has neither", async () => {
    const path = await addDevice();
    const record = (await send("GET", path)).body as object;
    const viewer = await gateway.createUser(tenant, "viewer");
    expect((await send("PUT", path, record, { "if-match": "*" }, viewer.token)).status).toBe(403);
    const key = (await send("POST", "/auth/keys", { name: "writer", scopes: ["devices:write"] })).body as { key: string };
    const asKey = (headers: Readonly<Record<string, string>>, body: object) => gateway.request(`/api/v1${path}`, {
      method: "PUT", headers: { "x-api-key": key.key, "content-type": "application/json", ...headers }, body: JSON.stringify(body),
    });
    expect((await asKey({ "if-match": await tagOf(path) }, { hostname: "by-key" })).status).toBe(200);
    expect((await asKey({ "if-match": '"x"' }, { hostname: "again" })).status).toBe(409);
  });
});
