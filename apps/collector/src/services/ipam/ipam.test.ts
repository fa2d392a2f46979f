import {
  AuditRecord, IpamAddress, type IpamConflict, IpamConflicts, IpamImported, IpamPrefix, IpamPrefixAddress, IpamUtilization, listEnvelope,
} from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { createIpam } from "./ipam.ts";

let gateway: TestGateway;
let admin: TestTenant;
afterEach(() => gateway.stop());

async function start() {
  gateway = await startTestGateway({ modules: (parts) => [createIpam(parts)] });
  admin = await gateway.createTenant("admin");
}

const call = (
  method: string, path: string, body?: unknown, token = admin.token
) => gateway.call(method, `/api/v1/ipam${path}`, token, body);
const addPrefix = async (prefix: string, more: object = {}) => {
  const answer = await call("POST", "/prefixes", { prefix, ...more });
  expect([prefix, answer.status]).toEqual([prefix, 201]);
  return IpamPrefix.parse(answer.body);
};
const addAddress = async (ip: string, more: object = {}) => {
  const answer = await call("POST", "/addresses", { ip, ...more });
  expect([ip, answer.status]).toEqual([ip, 201]);
  return IpamAddress.parse(answer.body);
};
const prefixes = async (query = "") => listEnvelope(IpamPrefix).parse((await call("GET", `/prefixes${query}`)).body);
const next = async (id: string, body: object = {}) => {
  const answer = await call("POST", `/prefixes/${id}/next-address`, body);
  return answer.status === 201 ? IpamAddress.parse(answer.body).ip : answer.status;
};
const nextPrefix = async (id: string, length: number) => {
  const answer = await call("POST", `/prefixes/${id}/next-prefix`, { length });
  return answer.status === 201 ? IpamPrefix.parse(answer.body).prefix : answer.status;
};
const conflicts = async (query = "") => IpamConflicts.parse((await call("GET", `/conflicts${query}`)).body);
const shortly = ({ kind, ip, expected_mac, observed }: IpamConflict) => [kind, ip, expected_mac, observed.map(({ mac }) => mac)];
const addSite = async () => {
  const id = createId();
  await gateway.db.insertInto("sites")
    .values({ id, tenant_id: admin.tenantId, name: `site ${id}`, probe_configuration: "{}", created_at: "2026-01-01T00:00:00.000Z" })
    .execute();
  return id;
};
const textOf = async (path: string) => (await fetch(
  `${gateway.url}/api/v1/ipam${path}`, { headers: { authorization: `Bearer ${admin.token}` } },
)).text();

describe("a prefix", () => {
  test("is written down once for each site and for all, read, changed and forgotten", async () => {
    await start();
    const made = await addPrefix("10.0.0.5/24", { name: "Office", vlan_id: 20 });
    expect(made).toMatchObject({
      prefix: "10.0.0.0/24", family: 4, site_id: null, parent_id: null, vlan_id: 20, name: "Office", status: "active",
    });
    expect((await call("POST", "/prefixes", { prefix: "10.0.0.0/24" })).status).toBe(409);
    const atSite = await addPrefix("10.0.0.0/24", { site_id: admin.siteId });
    expect(atSite.parent_id).toBe(made.id);
    expect((await call("POST", "/prefixes", { prefix: "10.0.0.0/24", site_id: createId() })).status).toBe(404);
    const changed = IpamPrefix.parse((await call("PUT", `/prefixes/${made.id}`, { name: "Floor 2", vlan_id: null })).body);
    expect(changed).toMatchObject({ name: "Floor 2", vlan_id: null, description: "", prefix: "10.0.0.0/24" });
    expect((await call("DELETE", `/prefixes/${made.id}`)).status).toBe(204);
    expect(IpamPrefix.parse((await call("GET", `/prefixes/${atSite.id}`)).body).parent_id).toBeNull();
    const audited = listEnvelope(AuditRecord).parse((await gateway.get("/api/v1/audit?action=ipam_prefix", admin.token)).body).data;
    expect(audited.map(({ action }) => action)).toEqual([
      "ipam_prefix.delete", "ipam_prefix.update", "ipam_prefix.create", "ipam_prefix.create",
    ]);
  });

  test("lies in the smallest one around it, of its own site or of all", async () => {
    await start();
    const other = await addSite();
    const whole = await addPrefix("10.0.0.0/8");
    const mine = await addPrefix("10.1.0.0/16", { site_id: admin.siteId });
    await addPrefix("10.1.0.0/20", { site_id: other });
    const inner = await addPrefix("10.1.2.0/24", { site_id: admin.siteId });
    const elsewhere = await addPrefix("10.1.3.0/24", { site_id: other });
    const six = await addPrefix("2001:DB8::/32");
    expect([mine.parent_id, inner.parent_id, six.parent_id]).toEqual([whole.id, mine.id, null]);
    expect((await prefixes()).data.map(({ prefix }) => prefix))
      .toEqual(["10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/20", "10.1.2.0/24", "10.1.3.0/24", "2001:db8::/32"]);
    expect((await prefixes("?within=10.1.0.0/16&family=4")).data.map(({ prefix }) => prefix)).toEqual([
      "10.1.0.0/16", "10.1.0.0/20", "10.1.2.0/24", "10.1.3.0/24",
    ]);
    expect((await prefixes(`?site_id=${other}`)).data.map(({ id }) => id).at(-1)).toBe(elsewhere.id);
    const first = await prefixes("?per_page=4");
    const rest = await prefixes(`?per_page=4&cursor=${first.meta.next_cursor}`);
    expect([
      first.data.length, rest.data.map(({ prefix }) => prefix), rest.meta.next_cursor,
    ]).toEqual([4, ["10.1.3.0/24", "2001:db8::/32"], null]);
  });

  test("says how much of it is taken, by plan and by sight", async () => {
    await start();
    const { id } = await addPrefix("10.0.0.0/24", { site_id: admin.siteId });
    await addPrefix("10.0.0.128/25", { site_id: admin.siteId });
    await addPrefix("10.0.0.128/26", { site_id: admin.siteId });
    await addAddress("10.0.0.5", { site_id: admin.siteId });
    await addAddress("10.0.0.6");
    await addAddress("10.0.0.7", { status: "deprecated" });
    await gateway.createDevice(admin, { ip: "10.0.0.5", mac: "00:00:5e:00:53:05" });
    await gateway.createDevice(admin, { ip: "10.0.0.9" });
    await gateway.createDevice(admin, { ip: "10.0.1.9" });
    expect(IpamUtilization.parse((await call("GET", `/prefixes/${id}/utilization`)).body))
      .toEqual({ size: "254", used: 3, recorded: 3, observed: 2, ratio: 0.011811, children: 1, children_ratio: 0.5 });
    const six = await addPrefix("2001:db8::/32");
    expect(IpamUtilization.parse(
      (await call("GET", `/prefixes/${six.id}/utilization`)).body,
    )).toMatchObject({ size: String(2n ** 96n - 1n), used: 0, ratio: 0 });
    const listed = listEnvelope(IpamPrefixAddress).parse((await call("GET", `/prefixes/${id}/addresses?per_page=3`)).body);
    expect(listed.data.map(({ ip, recorded, observed }) => [ip, recorded?.prefix_id ?? null, observed.map(({ mac }) => mac)]))
      .toEqual([["10.0.0.5", id, ["00:00:5e:00:53:05"]], ["10.0.0.6", null, []], ["10.0.0.7", null, []]]);
    const more = listEnvelope(IpamPrefixAddress).parse(
      (await call("GET", `/prefixes/${id}/addresses?per_page=3&cursor=${listed.meta.next_cursor}`)).body,
    );
    expect([more.data.map(({ ip, recorded }) => [ip, recorded]), more.meta]).toEqual([
      [["10.0.0.9", null]], { page: 1, per_page: 3, total: 4, next_cursor: null },
    ]);
  });
});

describe("the next free", () => {
  test("address is neither planned, nor in use, nor in a prefix below, nor the network's own", async () => {
    await start();
    const { id } = await addPrefix("10.0.0.0/28", { site_id: admin.siteId });
    await addPrefix("10.0.0.8/29", { site_id: admin.siteId });
    await addAddress("10.0.0.2");
    await gateway.createDevice(admin, { ip: "10.0.0.4" });
    expect([
      await next(id), await next(id, { hostname: "printer", status: "reserved" }), await next(id), await next(id), await next(id),
      await next(id),
    ])
      .toEqual(["10.0.0.1", "10.0.0.3", "10.0.0.5", "10.0.0.6", "10.0.0.7", 409]);
    const pair = await addPrefix("10.9.0.0/31");
    expect([await next(pair.id), await next(pair.id), await next(pair.id)]).toEqual(["10.9.0.0", "10.9.0.1", 409]);
    const six = await addPrefix("2001:db8::/64");
    expect(await next(six.id)).toBe("2001:db8::1");
  });

  test("address is another one for each of many who ask at once", async () => {
    await start();
    const { id } = await addPrefix("10.0.0.0/24");
    const given = await Promise.all(Array.from({ length: 40 }, () => next(id)));
    expect(new Set(given).size).toBe(40);
    expect([...given].map((ip) => addressKey(String(ip))).toSorted()).toEqual(Array.from(
      { length: 40 }, (_, index) => addressKey(`10.0.0.${index + 1}`),
    ));
  });

  test("prefix fits between what is there, and is another one for each who asks", async () => {
    await start();
    const { id } = await addPrefix("10.0.0.0/24", { site_id: admin.siteId });
    await addPrefix("10.0.0.16/28", { site_id: admin.siteId });
    await addAddress("10.0.0.70", { site_id: admin.siteId });
    expect([await nextPrefix(id, 28), await nextPrefix(id, 27), await nextPrefix(id, 26), await nextPrefix(id, 26)])
      .toEqual(["10.0.0.0/28", "10.0.0.32/27", "10.0.0.128/26", "10.0.0.192/26"]);
    expect(await nextPrefix(id, 26)).toBe(409);
    const many = await Promise.all(Array.from({ length: 4 }, () => nextPrefix(id, 29)));
    expect(new Set(many)).toEqual(new Set(["10.0.0.72/29", "10.0.0.80/29", "10.0.0.88/29", "10.0.0.96/29"]));
    for (const length of [24, 23, 33]) expect(await nextPrefix(id, length)).toBe(400);
  });
});

describe("conflicts", () => {
  test("are where plan and sight differ, and go when they agree", async () => {
    await start();
    await addPrefix("10.0.0.0/24", { site_id: admin.siteId });
    const planned = await addAddress("10.0.0.5", { site_id: admin.siteId, mac: "00:00:5e:00:53:05" });
    await addAddress("10.0.0.6", { status: "reserved" });
    await addAddress("10.0.0.7", { status: "deprecated", mac: "00:00:5e:00:53:07" });
    await addAddress("10.0.0.8", { mac: "00:00:5e:00:53:08" });
    for (const [ip, mac] of [["10.0.0.5", "00:00:5e:00:53:55"], ["10.0.0.6", "00:00:5e:00:53:06"], ["10.0.0.7", "00:00:5e:00:53:77"],
      ["10.0.0.8", "00:00:5e:00:53:08"], ["10.0.0.9", "00:00:5e:00:53:09"], ["10.0.0.9", "00:00:5e:00:53:99"], ["192.168.7.7", ""],
      ["169.254.1.1", ""], ["2001:db8::7", ""], ["fe80::1", ""]] as const) {
      await gateway.createDevice(admin, { ip, mac });
    }
    const all = await conflicts();
    expect(all.data.map(shortly)).toEqual([
      ["wrong_mac", "10.0.0.5", "00:00:5e:00:53:05", ["00:00:5e:00:53:55"]],
      ["reserved_in_use", "10.0.0.6", null, ["00:00:5e:00:53:06"]],
      ["duplicate_address", "10.0.0.9", null, expect.arrayContaining(["00:00:5e:00:53:09", "00:00:5e:00:53:99"]) as string[]],
      ["outside_prefixes", "192.168.7.7", null, [""]],
      ["outside_prefixes", "2001:db8::7", null, [""]],
    ]);
    expect([all.meta.total, all.truncated, all.data[0]?.address_id]).toEqual([5, false, planned.id]);
    expect((await conflicts("?kind=wrong_mac,duplicate_address")).data.map(({ kind }) => kind)).toEqual(["wrong_mac", "duplicate_address"]);
    const page = await conflicts("?per_page=2");
    expect((await conflicts(`?per_page=3&cursor=${page.meta.next_cursor}`)).data.map(({ kind }) => kind)).toEqual([
      "duplicate_address", "outside_prefixes", "outside_prefixes",
    ]);
    await call("PUT", `/addresses/${planned.id}`, { mac: "00:00:5e:00:53:55" });
    await addPrefix("192.168.0.0/16");
    await addPrefix("2001:db8::/32");
    expect((await conflicts()).data.map(({ kind }) => kind)).toEqual(["reserved_in_use", "duplicate_address"]);
  });

  test("are none where nothing is planned", async () => {
    await start();
    await gateway.createDevice(admin, { ip: "10.0.0.5" });
    expect((await conflicts()).data).toEqual([]);
  });
});

describe("CSV", () => {
  test("goes out as it comes in, and names that are formulas do no harm", async () => {
    await start();
    const csv = `prefix,site,vlan_id,name,description\r\n10.0.0.0/8,,,Whole,\r\n10.1.0.0/16,site,30,"'=cmd|' /C calc'!A0","a, ""b"""\r\n`;
    const dry = await call("POST", "/prefixes/import", { csv, dry_run: true });
    expect(IpamImported.parse(dry.body)).toEqual({ created: 2, updated: 0, unchanged: 0, dry_run: true });
    expect((await prefixes()).data).toEqual([]);
    expect(IpamImported.parse(
      (await call("POST", "/prefixes/import", { csv })).body,
    )).toEqual({ created: 2, updated: 0, unchanged: 0, dry_run: false });
    expect((await prefixes()).data.map(({ prefix, site_id: site, vlan_id: vlan, name }) => [prefix, site, vlan, name]))
      .toEqual([["10.0.0.0/8", null, null, "Whole"], ["10.1.0.0/16", admin.siteId, 30, "=cmd|' /C calc'!A0"]]);
    const exported = await textOf("/prefixes/export");
    expect(exported).toContain(`10.1.0.0/16,${admin.siteId},30,'=cmd|' /C calc'!A0,"a, ""b""",active,`);
    expect(IpamImported.parse(
      (await call("POST", "/prefixes/import", { csv: exported })).body,
    )).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect(IpamImported.parse(
      (await call("POST", "/prefixes/import", { csv: "prefix,name\n10.0.0.0/8,All of it\n10.0.0.0/9,\n" })).body,
    )).toMatchObject({ created: 1, updated: 1 });
    expect((await prefixes()).data[0]).toMatchObject({ name: "All of it", vlan_id: null });
  });

  test("of a site that is not there is refused before it begins", async () => {
    await start();
    for (const list of ["prefixes", "addresses"]) expect((await call("GET", `/${list}/export?site_id=${createId()}`)).status).toBe(404);
  });

  test("of addresses as well", async () => {
    await start();
    const csv = "ip,mac,hostname,status\n10.0.0.5,00-00-5E-00-53-05,printer,\n2001:db8::1,,,reserved\n";
    expect(IpamImported.parse((await call("POST", "/addresses/import", { csv })).body)).toMatchObject({ created: 2 });
    const listed = listEnvelope(IpamAddress).parse((await call("GET", "/addresses")).body).data;
    expect(listed.map(({ ip, mac, status }) => [ip, mac, status])).toEqual([
      ["10.0.0.5", "00:00:5e:00:53:05", "assigned"], ["2001:db8::1", null, "reserved"],
    ]);
    expect(IpamImported.parse(
      (await call("POST", "/addresses/import", { csv: await textOf("/addresses/export") })).body,
    )).toMatchObject({ unchanged: 2 });
  });

  test("takes a MAC in any form, as bodies, filters and the search do", async () => {
    await start();
    const csv = "ip,mac\n10.0.0.1,0000.5e00.5301\n10.0.0.2,00-00-5E-00-53-02\n10.0.0.3,00:00:5E:00:53:03\n";
    expect((await call("POST", "/addresses/import", { csv })).status).toBe(200);
    const { id } = await addAddress("10.0.0.4", { mac: "0000.5E00.5304" });
    const stored = ["1", "2", "3", "4"].map((last) => `00:00:5e:00:53:0${last}`);
    const addresses = async (query = "") => listEnvelope(IpamAddress).parse((await call("GET", `/addresses${query}`)).body).data
      .map(({ mac }) => mac);
    expect(await addresses()).toEqual(stored);
    for (const form of ["00:00:5E:00:53:04", "00-00-5e-00-53-04", "0000.5e00.5304"]) {
      for (const query of ["mac", "search"]) expect([form, await addresses(`?${query}=${form}`)]).toEqual([form, [stored[3]]]);
      expect((await call("PUT", `/addresses/${id}`, { mac: form })).body).toMatchObject({ mac: stored[3] });
    }
    expect((await call("POST", "/addresses/import", { csv: "ip,mac\n10.0.0.1,00-00:5e\n" })).error)
      .toMatchObject({ code: "BAD_REQUEST", details: [{ path: "csv.2.mac" }] });
  });

  test.each([
    ["no such column", "prefix,colour\n10.0.0.0/8,red\n", "csv.1"],
    ["no prefix column", "name\nx\n", "csv.1"],
    ["a line with too few cells", "prefix,name\n10.0.0.0/8\n", "csv.2"],
    ["what is no network", "prefix,name\n10.0.0.0/8,a\n10.0.0.0/99,b\n", "csv.3.prefix"],
    ["a VLAN that there is not", "prefix,vlan_id\n10.0.0.0/8,5000\n", "csv.2.vlan_id"],
    ["a site that there is not", "prefix,site\n10.0.0.0/8,nowhere\n", "csv.2.site"],
    ["a quote that does not end", 'prefix,name\n10.0.0.0/8,"a\n', "csv.2"],
    ["a column twice", "prefix,name,name\n10.0.0.0/8,a,b\n", "csv.1"],
    ["nothing but empty lines", "\n\n", "csv.1"],
  ])("with %s is refused whole, naming the line", async (_, csv, path) => {
    await start();
    const answer = await call("POST", "/prefixes/import", { csv });
    expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
    expect((await prefixes()).data).toEqual([]);
  });
});

test("another tenant's plan is not there, nor in what is free or in conflict", async () => {
  await start();
  const { id } = await addPrefix("10.0.0.0/24");
  const { id: addressId } = await addAddress("10.0.0.1", { status: "reserved" });
  const stranger = await gateway.createTenant("admin");
  await gateway.createDevice(stranger, { ip: "10.0.0.1" });
  for (const [method, path, body] of [["GET", `/prefixes/${id}`, undefined], [
    "PUT", `/prefixes/${id}`, { name: "x" },
  ], ["DELETE", `/prefixes/${id}`, undefined],
    ["GET", `/prefixes/${id}/utilization`, undefined], ["GET", `/prefixes/${id}/addresses`, undefined],
    ["POST", `/prefixes/${id}/next-address`, {}],
    ["POST", `/prefixes/${id}/next-prefix`, { length: 28 }], ["GET", `/addresses/${addressId}`, undefined],
    ["DELETE", `/addresses/${addressId}`, undefined]] as const) {
    expect([path, (await call(method, path, body, stranger.token)).status]).toEqual([path, 404]);
  }
  expect(listEnvelope(IpamPrefix).parse((await call("GET", "/prefixes", undefined, stranger.token)).body).data).toEqual([]);
  expect((await conflicts()).data).toEqual([]);
  const own = IpamPrefix.parse((await call("POST", "/prefixes", { prefix: "10.0.0.0/24" }, stranger.token)).body);
  expect(IpamAddress.parse((await call("POST", `/prefixes/${own.id}/next-address`, {}, stranger.token)).body).ip).toBe("10.0.0.2");
});
