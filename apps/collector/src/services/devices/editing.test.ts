import { type AuditRecord, DevicePorts, DeviceProfile, listEnvelope, DeviceChange } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { type Answer, startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
let other: TestTenant;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  gateway = await startTestGateway({ clock });
  tenant = await gateway.createTenant("admin");
  other = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const send = (method: string, path: string, body?: unknown, token = tenant.token): Promise<Answer> => gateway.request(`/api/v1${path}`, {
  method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});
const create = async (body: object) => {
  const answer = await send("POST", "/devices", body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return DeviceProfile.parse(answer.body);
};
const put = async (id: string, body: object) => {
  const answer = await send("PUT", `/devices/${id}`, body);
  expect([answer.status, answer.error]).toEqual([200, undefined]);
  return DeviceProfile.parse(answer.body);
};
const audited = async (): Promise<readonly AuditRecord[]> =>
  ((await gateway.get("/api/v1/audit?action=device", tenant.token)).body as { data: AuditRecord[] }).data;
const secondSite = async () => {
  const id = createId();
  await gateway.db.insertInto("sites")
    .values({ id, tenant_id: tenant.tenantId, name: "second", probe_configuration: "{}", created_at: "2026-01-01T00:00:00.000Z" })
      .execute();
  return id;
};

describe("a device made by hand", () => {
  test("is answered with its place, is found by what was said of it, and nothing of that is discovery's", async () => {
    const answer = await send("POST", "/devices",
      { ip: "10.0.0.7", mac: "00-1B-21-AA-BB-07", hostname: "nas", device_type: "server", site_id: tenant.siteId,
        tags: ["core", "core", "backup"] });
    const device = DeviceProfile.parse(answer.body);
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `/api/v1/devices/${device.id}`]);
    expect(device).toMatchObject({
      ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07", hostname: "nas", device_type: "server", site_id: tenant.siteId, tags: ["core", "backup"],
      is_online: false,
      presence_state: "unknown", first_seen: null, last_seen: null, locked_fields: ["device_type", "hostname", "tags"],
      vendor: "Intel Corporate",
      interfaces: [{ mac: "00:1b:21:aa:bb:07", vendor: "Intel Corporate",
        addresses: [{ ip: "10.0.0.7", current: true, first_seen: null, last_seen: null }] }],
    });
    expect((await gateway.get(`/api/v1/devices/${device.id}`, tenant.token)).body).toEqual(answer.body);
    for (const search of ["nas", "10.0.0.7", "bb:07"]) expect(((await gateway.get(`/api/v1/devices?search=${search}`, tenant.token))
      .body as { data: unknown[] }).data.length).toBe(1);
    expect(await audited())
      .toMatchObject([{ action: "device.create", target: { type: "device", id: device.id }, before: null,
        after: { hostname: "nas", tags: ["core", "backup"] } }]);
  });

  test("is taken with its MAC in any form, and found and changed by each", async () => {
    const forms = ["00:1B:21:AA:BB:07", "00-1b-21-aa-bb-07", "001b.21aa.bb07"];
    for (const mac of forms) {
      const { id } = await create({ mac });
      for (const form of forms) {
        const found = (await gateway.get(`/api/v1/devices?search=${form}`, tenant.token)).body as { data: { id: string; mac: string }[] };
        expect([form, found.data.map((device) => [device.id, device.mac])]).toEqual([form, [[id, "00:1b:21:aa:bb:07"]]]);
        expect((await put(id, { mac: form })).mac).toBe("00:1b:21:aa:bb:07");
      }
      await send("DELETE", `/devices/${id}`);
    }
    for (const mac of ["00:1b-21:aa-bb:07", "00:1b:21", "001b21aabb07x"]) {
      expect((await send("POST", "/devices", { mac })).error).toMatchObject({ code: "BAD_REQUEST", details: [{ path: "mac" }] });
    }
  });

  test("needs an address or a MAC, and nothing else where there is one site", async () => {
    expect(await create({ mac: "00:1b:21:aa:bb:07" })).toMatchObject({ ip: "", site_id: tenant.siteId, locked_fields: [] });
    expect(await create({ ip: "2001:DB8:0:0::1" })).toMatchObject({ ip: "2001:db8::1", mac: "" });
    expect((await send("POST", "/devices", { hostname: "x" })).error).toMatchObject({ code: "BAD_REQUEST", details: [{ path: "ip" }] });
    await secondSite();
    expect((await send("POST", "/devices", { ip: "10.0.0.8" })).error)
      .toMatchObject({ code: "BAD_REQUEST", details: [{ path: "site_id" }] });
  });

  test("whose MAC, or address when it has no MAC, is there already is 409 and names that device", async () => {
    const { id } = await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" });
    for (const body of [{ ip: "10.0.0.99", mac: "00:1B:21:AA:BB:07" }, { ip: "10.0.0.7" }, { ip: "::ffff:10.0.0.7" }]) {
      const answer = await send("POST", "/devices", body);
      expect([body, answer.status, answer.error.code, answer.error.details]).toEqual([body, 409, "CONFLICT", { device_id: id }]);
    }
    // Two machines that both have an address is what an address conflict is.
    await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:08" });
    const site = await secondSite();
    await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07", site_id: site });
    expect((await send("POST", "/devices", { ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" }, other.token)).status).toBe(201);
  });

  test("by two people at once is one device", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("POST", "/devices", { mac: "00:1b:21:aa:bb:07" })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test.each([
    [{ ip: "10.0.0.256" }, "ip"], [{ ip: "224.0.0.1" }, "ip"], [{ ip: "0.0.0.0" }, "ip"], [{ ip: "255.255.255.255" }, "ip"],
    [{ ip: "ff02::1" }, "ip"], [{ ip: "::" }, "ip"],
    [{ mac: "00:1b" }, "mac"], [{ mac: "01:00:5e:00:00:01" }, "mac"], [{ mac: "ff:ff:ff:ff:ff:ff" }, "mac"],
    [{ mac: "00:00:00:00:00:00" }, "mac"], [{ mac: "00-1b:21:aa:bb:07" }, "mac"],
    [{ ip: "10.0.0.1", device_type: "toaster" }, "device_type"], [{ ip: "10.0.0.1", tags: "x" }, "tags"],
    [{ ip: "10.0.0.1", tags: ["a", 1] }, "tags.1"], [{ ip: "10.0.0.1", tags: [""] }, "tags.0"],
    [{ ip: "10.0.0.1", tags: Array.from({ length: 65 }, (_, index) => `${index}`) }, "tags"],
    [{ ip: "10.0.0.1", hostname: "x".repeat(256) }, "hostname"],
    [{ ip: "10.0.0.1", hostname: "a\u0000b" }, "hostname"], [{ ip: "10.0.0.1", tags: ["a\nb"] }, "tags.0"],
    [{ ip: "10.0.0.1", site_id: "1" }, "site_id"], [{ ip: null, mac: null }, "ip"],
  ])("of %j is refused, and the field named", async (body, path) => {
    const { status, error } = await send("POST", "/devices", body);
    expect([status, error.code, (error.details as { path: string }[])[0]?.path]).toEqual([400, "BAD_REQUEST", path]);
  });

  test.each<object>([{ is_online: true }, { id: createId() },
    { constructor: 1 }])("with the field of %j, which is nobody's to set, is refused", async (extra: object) => {
    for (const [method, path] of [["POST", "/devices"], ["PUT", `/devices/${createId()}`]] as const) {
      const { status, error } = await send(method, path, { ip: "10.0.0.1", ...extra });
      expect([method, status, error.code]).toEqual([method, 400, "BAD_REQUEST"]);
    }
    const polluted = await gateway.request("/api/v1/devices", {
      method: "POST", headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
      body: '{"ip":"10.0.0.1","__proto__":{"admin":true}}',
    });
    expect([polluted.status, ({} as { admin?: true }).admin]).toEqual([400, undefined]);
  });
});

describe("a device that a person changes", () => {
  test("keeps what was left out, shows what was set, and says who it was by", async () => {
    const id = await gateway.createDevice(tenant, { ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07", hostname: "dhcp-7", vendor: "Intel" });
    await clock.advance(60_000);
    const device = await put(id, { hostname: "nas", tags: ["core"], device_type: "server" });
    expect(device).toMatchObject({ hostname: "nas", tags: ["core"], device_type: "server", vendor: "Intel", ip: "10.0.0.7",
      locked_fields: ["device_type", "hostname", "tags"] });
    const change = { at: "2026-06-01T00:01:00.000Z", source: "person" };
    expect(device.history.toSorted((a, b) => a.field.localeCompare(b.field))).toEqual([
      { ...change, field: "device_type", before: "unknown", after: "server" },
      { ...change, field: "hostname", before: "dhcp-7", after: "nas" },
      { ...change, field: "tags", before: "[]", after: '["core"]' },
    ]);
    expect(await audited())
      .toMatchObject([{ action: "device.update", actor: { id: tenant.userId }, before: { hostname: "dhcp-7", tags: [] },
        after: { hostname: "nas", tags: ["core"] } }]);
    // The same again changes nothing but is no error.
    expect((await put(id, { hostname: "nas" })).history.length).toBe(3);
    expect((await put(id, {})).hostname).toBe("nas");
  });

  test("gets back what discovery says, and is discovery's again, where null is set", async () => {
    const id = await gateway.createDevice(tenant, { ip: "10.0.0.7", hostname: "old", os_guess: "Linux" });
    const seen = { device_id: id, tenant_id: tenant.tenantId, field: "hostname", seen_at: "2026-01-01T00:00:00.000Z" };
    await gateway.db.insertInto("evidence").values([
      { ...seen, value: "by-mdns", source: "mdns", confidence: 0.7 }, { ...seen, value: "by-dhcp", source: "dhcp", confidence: 0.8 },
    ]).execute();
    await put(id, { hostname: "mine", device_type: "server", tags: ["a"], vendor: "" });
    expect(await put(id, { hostname: null, device_type: null, tags: null, os_guess: null })).toMatchObject({
      hostname: "by-dhcp", device_type: "unknown", tags: [], vendor: "", os_guess: "Linux", locked_fields: ["vendor"],
    });
  });

  test("takes a new address and a new MAC, unless another device has it", async () => {
    const taken = await create({ ip: "10.0.0.1", mac: "00:1b:21:aa:bb:01" });
    const { id } = await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" });
    const moved = await put(id, { ip: "10.0.0.8", mac: "00:1b:21:aa:bb:08" });
    // Nothing was ever heard of the old ones: they were a slip of the pen.
    expect(moved).toMatchObject({ ip: "10.0.0.8", mac: "00:1b:21:aa:bb:08",
      interfaces: [{ mac: "00:1b:21:aa:bb:08", addresses: [{ ip: "10.0.0.8" }] }] });
    expect(moved.interfaces.length).toBe(1);
    expect((await send("PUT", `/devices/${id}`, { mac: "00:1b:21:aa:bb:01" })).error)
      .toMatchObject({ code: "CONFLICT", details: { device_id: taken.id } });
    expect((await gateway.get(`/api/v1/devices/${id}`, tenant.token)).body).toEqual(moved);
    const routed = await create({ ip: "10.9.0.1" });
    expect((await send("PUT", `/devices/${routed.id}`, { ip: "10.0.0.8" })).error)
      .toMatchObject({ code: "CONFLICT", details: { device_id: id } });
    expect((await send("PUT", `/devices/${routed.id}`, { ip: "224.0.0.1" })).status).toBe(400);
  });

  test("and was seen keeps what it was seen with beside what is set", async () => {
    const id = await gateway.createDevice(tenant, { ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" });
    const own = { device_id: id, tenant_id: tenant.tenantId, site_id: tenant.siteId, mac: "00:1b:21:aa:bb:07",
      first_seen: "2026-01-01T00:00:00.000Z" };
    await gateway.db.insertInto("interfaces").values({ ...own, vendor: "" }).execute();
    await gateway.db.insertInto("addresses")
      .values({ ...own, ip: "10.0.0.7", ip_key: addressKey("10.0.0.7"), last_seen: own.first_seen, current: 1 })
      .onConflict((c) => c.doNothing()).execute();
    await gateway.db.insertInto("evidence")
      .values({ device_id: id, tenant_id: tenant.tenantId, field: "ip", value: "10.0.0.7", source: "arp", confidence: 0.9,
        seen_at: own.first_seen }).execute();
    expect((await put(id, { ip: "10.0.0.8" })).interfaces)
      .toMatchObject([{ mac: own.mac, addresses: [{ ip: "10.0.0.7" }, { ip: "10.0.0.8" }] }]);
    expect(await put(id, { ip: null })).toMatchObject({ ip: "10.0.0.7", locked_fields: [] });
  });
});

test("a device that is deleted is gone with all that hangs on it, and may come again", async () => {
  const { id } = await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07", hostname: "nas" });
  const answer = await send("DELETE", `/devices/${id}`);
  expect([answer.status, answer.body]).toEqual([204, null]);
  for (const [method, path] of [["GET", ""], ["GET", "/ports"], ["GET", "/history"], ["PUT", ""], ["DELETE", ""]] as const) {
    expect([path, (await send(method, `/devices/${id}${path}`, method === "PUT" ? {} : undefined)).status]).toEqual([path, 404]);
  }
  expect(await gateway.db.selectFrom("interfaces").selectAll().execute()).toEqual([]);
  expect((await audited())[0]).toMatchObject({ action: "device.delete", before: { hostname: "nas" }, after: null });
  await create({ ip: "10.0.0.7", mac: "00:1b:21:aa:bb:07" });
});

describe("ports and history", () => {
  test("of a device are read by themselves, the history to its end by cursor", async () => {
    const id = await gateway.createDevice(tenant, { ip: "10.0.0.7" });
    const own = { device_id: id, tenant_id: tenant.tenantId };
    const at = "2026-01-01T00:00:00.000Z";
    await gateway.db.insertInto("ports")
      .values([443, 22].map((port) =>
        ({ ...own, port, protocol: "tcp", state: "open", service: "s", version: "", banner: "", last_scanned: at }))).execute();
    for (let index = 0; index < 25; index += 1) {
      await gateway.db.insertInto("device_changes")
        .values({ ...own, id: createId(), at, field: "hostname", before: `${index}`, after: `${index + 1}`, source: "dhcp" }).execute();
    }
    expect(DevicePorts.parse((await gateway.get(`/api/v1/devices/${id}/ports`, tenant.token)).body).data.map(({ port }) => port))
      .toEqual([22, 443]);
    const History = listEnvelope(DeviceChange);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ReturnType<typeof History.parse> = History.parse(
        (await gateway.get(`/api/v1/devices/${id}/history?per_page=10${cursor ? `&cursor=${cursor}` : ""}`, tenant.token)).body,
      );
      expect(page.meta.total).toBe(25);
      seen.push(...page.data.map(({ after }) => after));
      cursor = page.meta.next_cursor;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `${25 - index}`));
    expect((await gateway.get(`/api/v1/devices/${id}/history?cursor=x`, tenant.token)).status).toBe(400);
  });
});

describe("who may", () => {
  test("another tenant's device is 404 by every route, and nothing of it changes", async () => {
    const { id } = await create({ ip: "10.0.0.7" });
    for (const [method, path, body] of [
      ["GET", "", undefined], ["GET", "/ports", undefined], ["GET", "/history", undefined], ["PUT", "", { hostname: "theirs" }],
      ["DELETE", "", undefined],
    ] as const) {
      const answer = await send(method, `/devices/${id}${path}`, body, other.token);
      expect([method, path, answer.status, answer.error.code]).toEqual([method, path, 404, "NOT_FOUND"]);
    }
    expect((await send("POST", "/devices", { ip: "10.0.0.9", site_id: tenant.siteId }, other.token)).status).toBe(404);
    expect((await gateway.get(`/api/v1/devices/${id}`, tenant.token)).body).toMatchObject({ hostname: "" });
  });

  test("a viewer reads and writes nothing", async () => {
    const viewer = await gateway.createTenant("viewer");
    const id = await gateway.createDevice(viewer, { ip: "10.0.0.7" });
    for (const [method, path, body] of [["POST", "/devices", { ip: "10.0.0.8" }], ["PUT", `/devices/${id}`, {}],
      ["DELETE", `/devices/${id}`, undefined]] as const) {
      expect((await send(method, path, body, viewer.token)).error)
        .toMatchObject({ code: "FORBIDDEN", details: { required: "devices:write" } });
    }
    for (const path of ["", "/ports", "/history"]) expect((await gateway.get(`/api/v1/devices/${id}${path}`, viewer.token)).status)
      .toBe(200);
  });
});

test("a system that a person sets lets the device's software be judged anew", async () => {
  const { id } = await create({ ip: "10.0.0.9", site_id: tenant.siteId });
  const waiting = () => gateway.db.selectFrom("software_changes").select("device_id").execute();
  await put(id, { hostname: "nas" });
  expect(await waiting()).toEqual([]);
  await put(id, { os_guess: "Debian 12" });
  expect(await waiting()).toEqual([{ device_id: id }]);
});
