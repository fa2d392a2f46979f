import { type Device, DeviceProfile, listEnvelope, Device as DeviceSchema } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let gateway: TestGateway;
let tenant: TestTenant;
let other: TestTenant;
let secondSite = "";

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant("viewer");
  other = await gateway.createTenant("viewer");
  secondSite = createId();
  await gateway.db.insertInto("sites")
    .values({ id: secondSite, tenant_id: tenant.tenantId, name: "second", probe_configuration: "{}",
      created_at: "2026-01-01T00:00:00.000Z" }).execute();
  const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
  await gateway.createDevice(tenant,
    { ip: "10.0.0.10", mac: "00:1b:21:aa:bb:01", hostname: "printer_1", vendor: "Intel Corporate", os_guess: "Linux 6", last_seen: at(5),
      tags: '["Core","a"]' });
  await gateway.createDevice(tenant,
    { ip: "10.0.0.9", mac: "00:1b:21:aa:bb:02", hostname: "printer-2", vendor: "Hewlett Packard", os_guess: "JetDirect", is_online: 0,
      last_seen: at(1) });
  await gateway.createDevice(tenant,
    { ip: "9.255.255.255", mac: "f0:9f:c2:00:00:03", hostname: "Router", vendor: "Ubiquiti", last_seen: at(3), device_type: "router",
      tags: '["core","core-2"]' });
  await gateway.createDevice(tenant,
    { ip: "fd00::2", hostname: "100%", vendor: "", site_id: secondSite, last_seen: at(4), tags: JSON.stringify(['a"b']) });
  await gateway.createDevice(tenant,
    { ip: "fd00::1", hostname: "six", vendor: "intel", os_guess: "linux", site_id: secondSite, is_online: 0, presence_state: "unknown",
      last_seen: at(2) });
  await gateway.createDevice(other, { ip: "10.0.0.10", mac: "00:1b:21:aa:bb:01", hostname: "printer_1", vendor: "Intel Corporate" });
});
afterAll(() => gateway.stop());

const List = listEnvelope(DeviceSchema);

async function list(query: string, token = tenant.token) {
  const answer = await gateway.get(`/api/v1/devices${query}`, token);
  expect(answer.status).toBe(200);
  return List.parse(answer.body);
}

async function addresses(query: string): Promise<string[]> {
  const { data, meta } = await list(query);
  expect(meta.total).toBe(data.length);
  return data.map(({ ip }) => ip);
}

async function refusal(query: string) {
  const { status, error } = await gateway.get(`/api/v1/devices${query}`, tenant.token);
  return [status, error.code, (error.details as { path: string }[] | null)?.[0]?.path];
}

describe("the list of devices", () => {
  test("is in the order of the addresses as numbers, IPv4 first, at both paths", async () => {
    const inOrder = ["9.255.255.255", "10.0.0.9", "10.0.0.10", "fd00::1", "fd00::2"];
    expect(await addresses("")).toEqual(inOrder);
    const plain = await gateway.get("/api/devices", tenant.token);
    expect(List.parse(plain.body).data.map(({ ip }) => ip)).toEqual(inOrder);
  });

  test.each([
    ["-ip", ["fd00::2", "fd00::1", "10.0.0.10", "10.0.0.9", "9.255.255.255"]],
    ["hostname", ["fd00::2", "10.0.0.9", "10.0.0.10", "9.255.255.255", "fd00::1"]],
    ["-last_seen", ["10.0.0.10", "fd00::2", "9.255.255.255", "fd00::1", "10.0.0.9"]],
    ["-hostname", ["fd00::1", "9.255.255.255", "10.0.0.10", "10.0.0.9", "fd00::2"]],
    ["vendor", ["10.0.0.9", "10.0.0.10", "9.255.255.255", "fd00::1", "fd00::2"]],
    ["-vendor", ["fd00::1", "9.255.255.255", "10.0.0.10", "10.0.0.9", "fd00::2"]],
  ])("is sorted by %s", async (sort, expected) => {
    expect(await addresses(`?sort=${sort}`)).toEqual(expected);
  });

  test.each([
    ["is_online=true", ["9.255.255.255", "10.0.0.10", "fd00::2"]],
    ["is_online=false", ["10.0.0.9", "fd00::1"]],
    ["vendor=INTEL", ["10.0.0.10", "fd00::1"]],
    ["os=linux", ["10.0.0.10", "fd00::1"]],
    ["search=PRINTER", ["10.0.0.9", "10.0.0.10"]],
    ["search=printer_", ["10.0.0.10"]],
    ["search=%25", ["fd00::2"]],
    ["search=10.0.0.", ["10.0.0.9", "10.0.0.10"]],
    ["search=0.0.9", ["10.0.0.9"]],
    ["search=fd00", ["fd00::1", "fd00::2"]],
    ["search=%5C", []],
    ["search='--", []],
    ["search=printer&tag=Core", ["10.0.0.10"]],
    ["search=printer&is_online=false&sort=-last_seen", ["10.0.0.9"]],
    ["vendor=intel&is_online=false", ["fd00::1"]],
    ["presence_state=unknown", ["fd00::1"]],
    ["presence_state=online&device_type=router", ["9.255.255.255"]],
    ["device_type=camera", []],
    ["tag=core", ["9.255.255.255"]],
    ["tag=Core", ["10.0.0.10"]],
    ["tag=cor", []],
    ["tag=a%22b", ["fd00::2"]],
    ["tag=%25", []],
    ["since=2026-01-01T00:03:00Z", ["9.255.255.255", "10.0.0.10", "fd00::2"]],
    ["since=2026-01-01T00:02:00Z&until=2026-01-01T01:04:00%2B01:00&sort=-last_seen", ["9.255.255.255", "fd00::1"]],
    ["since=2026-01-01T00:03:00Z&is_online=true&vendor=intel", ["10.0.0.10"]],
    ["since=2h", []],
    ["unknown_parameter=1&search=six", ["fd00::1"]],
  ])("is filtered by %s", async (query, expected) => {
    expect(await addresses(`?${query}`)).toEqual(expected);
  });

  test("is searched by MAC however people write one", async () => {
    for (const row of await gateway.db.selectFrom("devices").selectAll().where("mac", "<>", "").execute()) {
      await gateway.db.insertInto("interfaces").values({
        device_id: row.id, tenant_id: row.tenant_id, site_id: row.site_id, mac: row.mac, vendor: "", first_seen: row.first_seen,
      }).onConflict((c) => c.doNothing()).execute();
    }
    for (const search of ["00:1b:21:aa:bb:02", "001B21AABB02", "00-1B-21-AA-BB-02", "001b.21aa.bb02", "bb:02", "BB02"]) {
      expect([search, await addresses(`?search=${search}`)]).toEqual([search, ["10.0.0.9"]]);
    }
    expect(await addresses("?search=b:21:aa")).toEqual(["10.0.0.9", "10.0.0.10"]);
    // Across the pairs of 00:1b only when nothing was said about pairs.
    expect(await addresses("?search=01b2")).toEqual(["10.0.0.9", "10.0.0.10"]);
    expect(await addresses("?search=01:b2")).toEqual([]);
    expect(await addresses("?search=00-1b-21-aa-bb-0f")).toEqual([]);
  });

  test("is filtered by site; a site that the tenant does not have is 404", async () => {
    expect(await addresses(`?site_id=${secondSite}`)).toEqual(["fd00::1", "fd00::2"]);
    expect(await refusal(`?site_id=${createId()}`)).toEqual([404, "NOT_FOUND", undefined]);
    expect(await refusal(`?site_id=${other.siteId}`)).toEqual([404, "NOT_FOUND", undefined]);
  });

  test.each([
    ["page=0", "page"], ["page=x", "page"], ["page=1.5", "page"], ["per_page=0", "per_page"], ["per_page=1001", "per_page"],
    ["sort=mac", "sort"],
    ["is_online=1", "is_online"], ["presence_state=gone", "presence_state"], ["device_type=toaster", "device_type"],
    ["since=yesterday", "since"], ["search=%00", "search"], ["site_id=1", "site_id"], ["cursor=x", "cursor"],
    [`search=${"x".repeat(300)}`, "search"], ["page=1&page=2", "page"],
    [`cursor=${Buffer.from('["ip","x"]').toString("base64url")}`, "cursor"],
  ])("refuses %s and names the parameter", async (query, path) => {
    expect(await refusal(`?${query}`)).toEqual([400, "BAD_REQUEST", path]);
  });

  test("refuses a cursor of another order", async () => {
    const { meta } = await list("?per_page=2&sort=vendor");
    expect(await refusal(`?sort=ip&cursor=${meta.next_cursor}`)).toEqual([400, "BAD_REQUEST", "cursor"]);
  });

  test("pages without repeating or leaving out a row, ties and all", async () => {
    const crowd = await gateway.createTenant("viewer");
    for (let index = 0; index < 25; index += 1) await gateway.createDevice(crowd, { ip: `10.1.0.${index}`, vendor: index % 2 ? "a" : "b" });
    for (const sort of ["ip", "-vendor", "vendor", "last_seen"]) {
      const pages: Device[] = [];
      for (let page = 1; page <= 3; page += 1) {
        const { data, meta } = await list(`?per_page=10&page=${page}&sort=${sort}`, crowd.token);
        expect(meta).toMatchObject({ page, per_page: 10, total: 25 });
        pages.push(...data);
      }
      expect(new Set(pages.map(({ id }) => id)).size).toBe(25);
    }
    for (const query of ["?page=9", "?page=9&search=10.1.", "?page=9&vendor=a"]) {
      const { data, meta } = await list(query, crowd.token);
      expect([query, data.length, meta.total]).toEqual([query, 0, query.includes("vendor") ? 12 : 25]);
    }
  });

  test("is read to its end by cursor while it changes: nothing that stays is left out, nothing comes twice", async () => {
    const crowd = await gateway.createTenant("viewer");
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1) ids.push(await gateway.createDevice(crowd,
      { ip: `10.1.0.${index * 10}`, vendor: `v${index % 3}`, tags: '["t"]' }));
    for (const sort of ["ip", "-ip", "vendor", "-vendor", "ip&search=10.", "-vendor&search=10.", "-ip&tag=t",
      "vendor&since=2000-01-01T00:00:00Z"]) {
      const seen: string[] = [];
      let cursor: string | null = "";
      for (let round = 0; cursor !== null; round += 1) {
        const { data, meta }: Awaited<ReturnType<typeof list>> = await list(`?per_page=3&sort=${sort}${cursor ? `&cursor=${cursor}` : ""}`,
          crowd.token);
        seen.push(...data.map(({ id }) => id));
        cursor = meta.next_cursor;
        // Before and after the reader's place, and one that the reader had is gone.
        for (const part of [1, 249]) await gateway.createDevice(crowd,
          { ip: `10.0.${round}.${part}`, vendor: "v0", hostname: "new", tags: '["t"]' });
        await gateway.db.deleteFrom("devices").where("id", "=", seen[0] ?? "").where("hostname", "=", "new").execute();
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(ids.filter((id) => !seen.includes(id))).toEqual([]);
      await gateway.db.deleteFrom("devices").where("tenant_id", "=", crowd.tenantId).where("hostname", "=", "new").execute();
    }
  });

  test("counts what is there, whoever comes, goes or moves", async () => {
    const counted = await gateway.createTenant("viewer");
    const id = await gateway.createDevice(counted, { ip: "10.0.0.1" });
    await gateway.createDevice(counted, { ip: "10.0.0.2", is_online: 0 });
    const totals = async () => [(await list("", counted.token)).meta.total, (await list("?is_online=true", counted.token)).meta.total];
    expect(await totals()).toEqual([2, 1]);
    await gateway.db.updateTable("devices").set({ is_online: 0 }).where("id", "=", id).execute();
    expect(await totals()).toEqual([2, 0]);
    await gateway.db.deleteFrom("devices").where("id", "=", id).execute();
    expect(await totals()).toEqual([1, 0]);
    await expect(gateway.db.transaction().execute(async (trx) => {
      await trx.deleteFrom("devices").where("tenant_id", "=", counted.tenantId).execute();
      throw new Error("undone");
    })).rejects.toThrow("undone");
    expect(await totals()).toEqual([1, 0]);
  });

  test("shows no tenant another's devices", async () => {
    const { data, meta } = await list("", other.token);
    expect([data.length, meta.total]).toEqual([1, 1]);
    for (const query of ["?search=printer", "?vendor=intel", "?search=00:1b", "?search=10.0.0.10", "?is_online=true"]) {
      const mine = (await list(query, tenant.token)).data.map(({ id }) => id);
      const theirs = (await list(query, other.token)).data.map(({ id }) => id);
      expect(theirs).toEqual([data[0]?.id]);
      expect(mine).not.toContain(data[0]?.id);
    }
  });
});

describe("a device's profile", () => {
  test("holds its interfaces, ports, services, history and evidence", async () => {
    const { db, createDevice, get } = gateway;
    const { tenantId, siteId, token } = tenant;
    const mac = "02:00:00:00:00:77";
    const id = await createDevice(tenant, { ip: "10.7.0.1", mac, open_ports: "[22]", tags: '["core"]', locked_fields: '["hostname"]' });
    const at = "2026-01-01T00:00:00.000Z";
    const own = { device_id: id, tenant_id: tenantId };
    await db.insertInto("interfaces").values({ ...own, site_id: siteId, mac, vendor: "V", first_seen: at }).execute();
    for (const [ip, current] of [["10.7.0.1", 1], ["10.7.0.2", 0]] as const) {
      await db.insertInto("addresses")
        .values({ ...own, site_id: siteId, mac, ip, ip_key: addressKey(ip), first_seen: at, last_seen: at, current })
        .onConflict((c) => c.doNothing()).execute();
    }
    await db.insertInto("ports").values([
      { ...own, port: 443, protocol: "tcp", state: "closed", service: "https", version: "", banner: "", last_scanned: at },
      { ...own, port: 22, protocol: "tcp", state: "open", service: "ssh", version: "OpenSSH 9", banner: "SSH-2.0", last_scanned: at },
    ]).execute();
    for (let index = 0; index < 120; index += 1) {
      await db.insertInto("device_changes")
        .values({ ...own, id: createId(), at, field: "hostname", before: `h${index}`, after: `h${index + 1}`, source: "dhcp" }).execute();
    }
    await db.insertInto("evidence").values({ ...own, field: "hostname", value: "h", source: "dhcp", confidence: 0.8, seen_at: at })
      .execute();
    const answer = await get(`/api/v1/devices/${id}`, token);
    const profile = DeviceProfile.parse(answer.body);
    expect(profile).toMatchObject({
      id, ip: "10.7.0.1", tags: ["core"], open_ports: [22], locked_fields: ["hostname"], cves: [], neighbors: [],
      interfaces: [{ mac, vendor: "V", addresses: [{ ip: "10.7.0.1", current: true }, { ip: "10.7.0.2", current: false }] }],
      ports: [{ port: 22, state: "open" }, { port: 443, state: "closed" }],
      services: [{ port: 22, protocol: "tcp", name: "ssh", version: "OpenSSH 9" }],
      evidence: { hostname: [{ value: "h", source: "dhcp", confidence: 0.8, seen_at: at }] },
    });
    expect([profile.history.length, profile.history[0]?.after, profile.history[99]?.after]).toEqual([100, "h120", "h21"]);
    expect((await get(`/api/devices/${id}`, token)).body).toEqual(answer.body);
    expect((await list("?search=10.7.0.2")).data.map((device) => device.id)).toEqual([id]);
  });

  test("of another tenant, or of nobody, is 404; of no identity is 400", async () => {
    const mine = (await list("")).data[0]?.id ?? "";
    for (const [id, status] of [[mine, 404], [createId(), 404], ["1", 400]] as const) {
      expect((await gateway.get(`/api/v1/devices/${id}`, other.token)).status).toBe(status);
    }
  });
});
