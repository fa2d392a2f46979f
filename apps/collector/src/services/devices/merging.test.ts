import { type AuditRecord, DeviceProfile, listEnvelope, SimilarDevice } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock } from "@lanthorn/runtime";
import { assert, asyncProperty, nat, record } from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostnameKey } from "../../db/keys/hostname-key.ts";
import { insertMany } from "../../db/query/write-many.ts";
import { PART_TABLES, type PartRow, type PartTable } from "../../identity/record.ts";
import { anyDevice } from "../../identity/testing/records.ts";
import { type Answer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  gateway = await startTestGateway({ clock });
  tenant = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const send = (method: string, path: string, body?: unknown, token = tenant.token): Promise<Answer> => gateway.request(`/api/v1${path}`, {
  method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});
const done = async (status: number, path: string, body: unknown) => {
  const answer = await send("POST", path, body);
  expect([answer.status, answer.error]).toEqual([status, undefined]);
  return DeviceProfile.parse(answer.body);
};
const create = (body: object) => done(201, "/devices", body);
const read = async (id: string) => DeviceProfile.parse((await send("GET", `/devices/${id}`)).body);

/** Everything of devices that lies in the database. */
async function everything(): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = ["devices", ...PART_TABLES, "device_changes"] as const;
  const rows = await Promise.all(tables.map(async (table) =>
    [table, (await gateway.db.selectFrom(table).selectAll().execute()).map((row) => JSON.stringify(row)).toSorted()] as const));
  return Object.fromEntries(rows);
}

/** Two devices with two interfaces each, and something of everything. */
async function pair() {
  const [one, two] = [await create({ ip: "10.0.0.1", mac: "00:1b:21:00:00:01", hostname: "nas", tags: ["core"] }),
    await create({ ip: "10.0.0.2", mac: "00:1b:21:00:00:02", tags: ["lab"], device_type: "server" })];
  await send("PUT", `/devices/${two.id}`, { hostname: "nas-2" });
  for (const [device, port] of [[one, 22], [two, 22], [two, 443]] as const) {
    await gateway.db.insertInto("ports").values({
      device_id: device.id, tenant_id: tenant.tenantId, port, protocol: "tcp", state: "open", service: device.hostname, version: "",
      banner: "", last_scanned: "2026-01-01T00:00:00.000Z",
    }).execute();
  }
  return { one, two };
}

describe("a merge", () => {
  test("makes one device of two, with all that both have, and says where the other is", async () => {
    const { one, two } = await pair();
    const kept = await done(200, `/devices/${one.id}/merge`, { with: two.id });
    expect(kept).toMatchObject({
      id: one.id, hostname: "nas", device_type: "server", tags: ["core", "lab"], open_ports: [22, 443],
      interfaces: [{ mac: "00:1b:21:00:00:01", addresses: [{ ip: "10.0.0.1" }] },
        { mac: "00:1b:21:00:00:02", addresses: [{ ip: "10.0.0.2" }] }],
      merges: [{ merged_id: two.id, by: { type: "user", id: tenant.userId },
        reasons: [{ key: `person ${tenant.username}`, source: "person" }] }],
    });
    expect(kept.history.some(({ after }) => after === "nas-2")).toBe(true);
    for (const [method, path] of [["GET", ""], ["GET", "/ports"], ["GET", "/history"], ["PUT", ""], ["DELETE", ""]] as const) {
      const answer = await send(method, `/devices/${two.id}${path}`, method === "PUT" ? {} : undefined);
      expect([path, answer.status, answer.error.details]).toEqual([path, 404, { merged_into: one.id }]);
    }
    const audit = ((await send("GET", "/audit?action=device.merge")).body as { data: AuditRecord[] }).data;
    expect(audit).toMatchObject([{ target: { id: one.id }, actor: { id: tenant.userId },
      before: { kept: { hostname: "nas" }, merged: { hostname: "nas-2" } } }]);
    expect(((await send("GET", "/devices")).body as { meta: { total: number } }).meta.total).toBe(1);
  });

  test("into the other device keeps that one", async () => {
    const { one, two } = await pair();
    expect(await done(200, `/devices/${one.id}/merge`, { into: two.id })).toMatchObject({ id: two.id, hostname: "nas-2" });
    expect((await send("GET", `/devices/${one.id}`)).error.details).toEqual({ merged_into: two.id });
  });

  test("has been looked at since the earlier look of both, and a split gives each its own back", async () => {
    const { one, two } = await pair();
    const look = (device: { readonly id: string }, scope: string, minute: number) => ({
      device_id: device.id, tenant_id: tenant.tenantId, scope_id: scope, looked_at: `2026-01-01T00:0${minute}:00.000Z`, scan_id: "scan",
    });
    const before = [look(one, "quick", 1), look(two, "quick", 2), look(two, "full", 3)];
    await gateway.db.insertInto("port_looks").values(before).execute();
    const looks = () => gateway.db.selectFrom("port_looks").selectAll().orderBy("looked_at").execute();
    const { merges } = await done(200, `/devices/${one.id}/merge`, { with: two.id });
    expect(await looks()).toEqual([look(one, "quick", 1), look(one, "full", 3)]);
    await done(201, `/devices/${one.id}/split`, { merge_id: merges[0]?.id });
    expect(await looks()).toEqual(before);
  });

  test("that an older version has kept without looks can be split", async () => {
    const { one, two } = await pair();
    const { merges } = await done(200, `/devices/${one.id}/merge`, { with: two.id });
    const { snapshot } = await gateway.db.selectFrom("device_merges").select("snapshot").executeTakeFirstOrThrow();
    const kept = JSON.parse(snapshot ?? "") as Record<"kept" | "merged" | "after", object>;
    const old = Object.fromEntries(Object.entries(kept).map(([name, part]) =>
      [name, Array.isArray(part) ? part : Object.fromEntries(Object.entries(part).filter(([table]) => table !== "port_looks"))]));
    await gateway.db.updateTable("device_merges").set({ snapshot: JSON.stringify(old) }).execute();
    await done(201, `/devices/${one.id}/split`, { merge_id: merges[0]?.id });
    expect((await read(two.id)).ports.map(({ port }) => port)).toEqual([22, 443]);
  });

  test("leaves the events that were logged as they are", async () => {
    const { one, two } = await pair();
    await gateway.append(tenant, [{ deviceId: two.id }]);
    const events = () => gateway.db.selectFrom("events").selectAll().orderBy("seq").execute();
    const before = await events();
    await done(200, `/devices/${one.id}/merge`, { with: two.id });
    expect(await events()).toEqual(before);
    expect(before.at(-1)).toMatchObject({ device_id: two.id });
  });

  test("of a chain says where its end is; when that is deleted there is nothing more to say", async () => {
    const { one, two } = await pair();
    const three = await create({ ip: "10.0.0.3" });
    await done(200, `/devices/${one.id}/merge`, { with: two.id });
    await done(200, `/devices/${three.id}/merge`, { with: one.id });
    expect((await send("GET", `/devices/${two.id}`)).error.details).toEqual({ merged_into: three.id });
    await send("DELETE", `/devices/${three.id}`);
    expect((await send("GET", `/devices/${two.id}`)).error.details).toBeNull();
  });

  test.each([[{}, 400], [{ into: createId(), with: createId() }, 400], [{ into: "x" }, 400], [{ into: createId() }, 404],
    [{ with: createId() }, 404], [{ into: createId(), x: 1 }, 400]])("as %j is %i", async (body, status) => {
    const { one } = await pair();
    expect((await send("POST", `/devices/${one.id}/merge`, body)).status).toBe(status);
  });

  test("of a device with itself, with one of another site or of another tenant is refused", async () => {
    const { one } = await pair();
    expect((await send("POST", `/devices/${one.id}/merge`, { into: one.id })).status).toBe(400);
    const siteId = createId();
    await gateway.db.insertInto("sites")
      .values({ id: siteId, tenant_id: tenant.tenantId, name: "two", probe_configuration: "{}", created_at: "2026-01-01T00:00:00.000Z" })
        .execute();
    const far = await create({ ip: "10.0.0.1", site_id: siteId });
    expect((await send("POST", `/devices/${one.id}/merge`, { into: far.id })).status).toBe(409);
    const other = await gateway.createTenant("admin");
    const theirs = await gateway.createDevice(other, { ip: "10.0.0.1" });
    expect((await send("POST", `/devices/${one.id}/merge`, { into: theirs })).status).toBe(404);
    expect((await send("POST", `/devices/${theirs}/merge`, { with: one.id })).status).toBe(404);
    expect((await send("POST", `/devices/${one.id}/split`, { interfaces: ["00:1b:21:00:00:01"] }, other.token)).status).toBe(404);
    const viewer = await gateway.createTenant("viewer");
    for (const path of ["merge",
      "split"]) expect((await send("POST", `/devices/${one.id}/${path}`, { into: theirs, merge_id: theirs }, viewer.token)).error.details)
        .toEqual({ required: "devices:write" });
  });
});

describe("a merge that is undone", () => {
  test("leaves everything as it was, and is audited", async () => {
    const { one, two } = await pair();
    const before = await everything();
    const { merges } = await done(200, `/devices/${one.id}/merge`, { with: two.id });
    const answer = await send("POST", `/devices/${one.id}/split`, { merge_id: merges[0]?.id });
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `/api/v1/devices/${two.id}`]);
    expect(DeviceProfile.parse(answer.body)).toMatchObject({ id: two.id, hostname: "nas-2", tags: ["lab"], open_ports: [] });
    expect(await everything()).toEqual(before);
    expect((await read(one.id)).merges).toEqual([]);
    expect(((await send("GET", "/audit?action=device.split")).body as { data: AuditRecord[] }).data)
      .toMatchObject([{ target: { id: one.id }, after: { split: { id: two.id } } }]);
    expect((await send("POST", `/devices/${one.id}/split`, { merge_id: merges[0]?.id })).status).toBe(404);
  });

  test("leaves everything as it was, whatever the two devices are", async () => {
    const anyPair = record({ kept: anyDevice("01989f2e-0000-7000-8000-000000000001", [1, 2, 3]),
      merged: anyDevice("01989f2e-0000-7000-8000-000000000002", [4, 5, 6]), changes: nat(3) });
    await assert(asyncProperty(anyPair, async ({ kept, merged, changes }) => {
      await gateway.db.deleteFrom("devices").execute();
      const place = { tenant_id: tenant.tenantId, site_id: tenant.siteId };
      for (const { device, ...parts } of [kept, merged]) {
        await gateway.db.insertInto("devices").values({ ...device, ...place, hostname_key: hostnameKey(device.hostname) }).execute();
        for (const table of PART_TABLES) {
          const rows = (parts[table] as readonly PartRow<PartTable>[])
            .map((row) => ({ ...row, device_id: device.id, tenant_id: place.tenant_id, ...("site_id" in row ? place : {}) }));
          await insertMany(gateway.db, table, rows as never);
        }
        for (let index = 0; index < changes; index += 1) {
          await gateway.db.insertInto("device_changes")
            .values({ id: createId(), device_id: device.id, tenant_id: place.tenant_id, at: device.last_seen, field: "ip", before: "a",
              after: "b", source: "arp" }).execute();
        }
      }
      const before = await everything();
      const { merges } = await done(200, `/devices/${kept.device.id}/merge`, { with: merged.device.id });
      await done(201, `/devices/${kept.device.id}/split`, { merge_id: merges[0]?.id });
      expect(await everything()).toEqual(before);
    }), { numRuns: 40 });
  });

  test("gives each what was done to it since", async () => {
    const { one, two } = await pair();
    const { merges } = await done(200, `/devices/${one.id}/merge`, { with: two.id });
    await send("PUT", `/devices/${one.id}`, { hostname: "renamed", tags: ["core", "lab", "new"] });
    await gateway.db.insertInto("addresses").values({
      device_id: one.id, tenant_id: tenant.tenantId, site_id: tenant.siteId, mac: "00:1b:21:00:00:02", ip: "10.0.0.22", ip_key: "40a000016",
      first_seen: "2026-06-02T00:00:00.000Z", last_seen: "2026-06-02T00:00:00.000Z", current: 1,
    }).execute();
    const back = await done(201, `/devices/${one.id}/split`, { merge_id: merges[0]?.id });
    expect(back).toMatchObject({ hostname: "nas-2", tags: ["lab"],
      interfaces: [{ mac: "00:1b:21:00:00:02", addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.22" }] }],
      last_seen: "2026-06-02T00:00:00.000Z" });
    expect(await read(one.id)).toMatchObject({ hostname: "renamed", tags: ["core", "lab", "new"], device_type: "unknown" });
  });

  test("is refused while its device is itself a part of another one, and possible after that is undone", async () => {
    const { one, two } = await pair();
    const three = await create({ ip: "10.0.0.3" });
    const first = (await done(200, `/devices/${one.id}/merge`, { with: two.id })).merges[0]?.id;
    const second = (await done(200, `/devices/${three.id}/merge`, { with: one.id })).merges[0]?.id;
    const refused = await send("POST", `/devices/${three.id}/split`, { merge_id: first });
    expect([refused.status, refused.error.details]).toEqual([409, { device_id: one.id }]);
    await done(201, `/devices/${three.id}/split`, { merge_id: second });
    expect(await done(201, `/devices/${one.id}/split`, { merge_id: first })).toMatchObject({ id: two.id });
  });
});

describe("interfaces that are taken from a device", () => {
  test("are a device of their own with their addresses, kept apart from then on", async () => {
    const { one, two } = await pair();
    await done(200, `/devices/${one.id}/merge`, { with: two.id });
    const taken = await done(201, `/devices/${one.id}/split`, { interfaces: ["00-1B-21-00-00-01"] });
    expect(taken).toMatchObject({ ip: "10.0.0.1", mac: "00:1b:21:00:00:01", hostname: "", tags: [],
      interfaces: [{ mac: "00:1b:21:00:00:01", addresses: [{ ip: "10.0.0.1" }] }] });
    expect(await read(one.id))
      .toMatchObject({ ip: "10.0.0.2", mac: "00:1b:21:00:00:02", hostname: "nas", interfaces: [{ mac: "00:1b:21:00:00:02" }] });
    expect(await gateway.db.selectFrom("device_merges").select(["kept_id", "merged_id", "snapshot"]).where("undone_at", "is not", null)
      .execute()).toEqual([{ kept_id: one.id, merged_id: taken.id, snapshot: null }]);
    expect((await send("GET", "/audit?action=device.split")).body).toMatchObject({ data: [{ target: { id: one.id } }] });
  });

  test("are some of its own, and not all", async () => {
    const { one } = await pair();
    for (const body of [{ interfaces: ["00:1b:21:00:00:01"] }, { interfaces: ["00:1b:21:00:00:02"] }, { interfaces: [] },
      { interfaces: ["x"] }, {}, { merge_id: createId(), interfaces: ["00:1b:21:00:00:01"] }]) {
      expect([body, (await send("POST", `/devices/${one.id}/split`, body)).status]).toEqual([body, 400]);
    }
    expect((await send("POST", `/devices/${one.id}/split`, { merge_id: createId() })).status).toBe(404);
  });
});

describe("devices that may be the same one", () => {
  test("are listed with what they have in common, the likeliest first, and none of another site", async () => {
    const phone = await gateway.createDevice(tenant, { ip: "10.0.0.1", hostname: "pixel-7", vendor: "Google" });
    const keyed = await gateway.createDevice(tenant, { ip: "10.0.0.2" });
    const named = await gateway.createDevice(tenant, { ip: "10.0.0.3", hostname: "pixel-7", vendor: "Google" });
    await gateway.createDevice(tenant, { ip: "10.0.0.4", hostname: "other", vendor: "Google" });
    const siteId = createId();
    await gateway.db.insertInto("sites")
      .values({ id: siteId, tenant_id: tenant.tenantId, name: "two", probe_configuration: "{}", created_at: "2026-01-01T00:00:00.000Z" })
        .execute();
    await gateway.createDevice(tenant, { ip: "10.0.0.1", hostname: "pixel-7", site_id: siteId });
    const key = { tenant_id: tenant.tenantId, site_id: tenant.siteId, key: "dhcp_duid 000100012a", source: "dhcp",
      first_seen: "2026-01-01T00:00:00.000Z" };
    await gateway.db.insertInto("device_keys").values([{ ...key, device_id: phone }, { ...key, device_id: keyed }]).execute();
    const answer = await send("GET", `/devices/${phone}/similar`);
    const similar = listEnvelope(SimilarDevice).parse(answer.body);
    expect(similar.meta).toEqual({ page: 1, per_page: 100, total: 2, next_cursor: null });
    expect(similar.data.map(({ device, score, reasons }) => [device.id, score, reasons.map(({ trait }) => trait)])).toEqual([
      [keyed, 0.9, ["key"]], [named, 0.46, ["hostname", "vendor"]],
    ]);
    const page = async (query: string) => {
      const { data, meta } = listEnvelope(SimilarDevice).parse((await send("GET", `/devices/${phone}/similar?${query}`)).body);
      return [data.map(({ device }) => device.id), meta];
    };
    expect(await page("per_page=1")).toEqual([[keyed], { page: 1, per_page: 1, total: 2, next_cursor: keyed }]);
    expect(await page(`per_page=1&cursor=${keyed}`)).toEqual([[named], { page: 1, per_page: 1, total: 2, next_cursor: null }]);
    expect(await page("per_page=1&page=2")).toEqual([[named], { page: 2, per_page: 1, total: 2, next_cursor: null }]);
    for (const query of ["per_page=1001", "page=0", "cursor=x", `cursor=${phone}`]) {
      expect([query, (await send("GET", `/devices/${phone}/similar?${query}`)).status]).toEqual([query, 400]);
    }
    const other = await gateway.createTenant("viewer");
    expect((await send("GET", `/devices/${phone}/similar`, undefined, other.token)).status).toBe(404);
    expect((await send("GET", `/devices/${await gateway.createDevice(other, { ip: "10.0.0.1" })}/similar`, undefined, other.token)).body)
      .toMatchObject({ data: [], meta: { total: 0, next_cursor: null } });
  });
});
