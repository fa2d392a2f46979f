import { type Device, DeviceFacets, type List } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { HANG_MS, watchWork } from "../../testing/loop.ts";

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant("viewer");
  const other = await gateway.createTenant("viewer");
  await gateway.createDevice(tenant, { ip: "10.0.0.1", hostname: "core", device_type: "switch", vendor: "Cisco", tags: '["core","rack"]', open_ports: "[22,443]" });
  await gateway.createDevice(tenant, { ip: "10.0.0.2", hostname: "edge", device_type: "router", vendor: "Cisco", tags: '["core"]', open_ports: "[22]" });
  await gateway.createDevice(tenant, { ip: "10.0.0.3", hostname: "paper", device_type: "printer", vendor: "", os_guess: "JetDirect", presence_state: "offline" });
  await gateway.createDevice(other, { ip: "10.0.0.1", device_type: "camera" });
});
afterAll(() => gateway.stop());

const facets = async (query = "") => {
  const answer = await gateway.get(`/api/v1/devices/facets${query}`, tenant.token);
  expect([query, answer.status]).toEqual([query, 200]);
  return DeviceFacets.parse(answer.body);
};
const listed = async (query: string) => ((await gateway.get(`/api/v1/devices${query}`, tenant.token)).body as List<Device>).meta.total;

describe("the facets of devices", () => {
  test("count each value of what the filter leaves, the most frequent first", async () => {
    expect(await facets()).toEqual({
      total: 3, site_id: [{ value: tenant.siteId, count: 3 }],
      device_type: [{ value: "printer", count: 1 }, { value: "router", count: 1 }, { value: "switch", count: 1 }],
      presence_state: expect.arrayContaining([{ value: "offline", count: 1 }]) as unknown, vendor: [{ value: "Cisco", count: 2 }],
      os: [{ value: "JetDirect", count: 1 }], tag: [{ value: "core", count: 2 }, { value: "rack", count: 1 }],
      open_port: [{ value: "22", count: 2 }, { value: "443", count: 1 }],
    });
    expect(await facets("?filter=tag:core%20-type:switch")).toMatchObject({ total: 1, device_type: [{ value: "router", count: 1 }], tag: [{ value: "core", count: 1 }] });
    expect(await facets("?search=pap")).toMatchObject({ total: 1, os: [{ value: "JetDirect" }] });
    expect(await facets("?filter=type:camera")).toEqual({
      total: 0, site_id: [], device_type: [], presence_state: [], vendor: [], os: [], tag: [], open_port: [],
    });
    expect((await gateway.get("/api/v1/devices/facets?filter=type:toaster", tenant.token)).status).toBe(400);
    expect((await gateway.get(`/api/v1/devices/facets?site_id=${createId()}`, tenant.token)).status).toBe(404);
  });

  test("of many are as exact as the list's total", async () => {
    const { id: _, ...row } = await gateway.db.selectFrom("devices").selectAll().where("hostname", "=", "paper").executeTakeFirstOrThrow();
    const own = { ...row, vendor: "Brother" };
    await insertMany(gateway.db, "devices", Array.from({ length: 9500 }, (_each, index) => ({
      id: createId(), ...own, ip: "", ip_key: "", device_type: index % 3 === 0 ? "camera" : "printer", tags: JSON.stringify([`tag ${index % 60}`]),
    })));
    const { total, device_type: types, vendor, tag } = await facets();
    expect([total, types.reduce((sum, { count }) => sum + count, 0), await listed("")]).toEqual([9503, 9503, 9503]);
    for (const { value, count } of [...types, ...vendor]) expect(await listed(`?per_page=1&${vendor.some((each) => each.value === value) ? "vendor" : "device_type"}=${value}`)).toBe(count);
    expect([tag.length, tag[0]?.count, await listed("?per_page=1&tag=tag%200")]).toEqual([50, 159, 159]);
    expect((await facets("?device_type=camera&vendor=Brother")).total).toBe(await listed("?per_page=1&device_type=camera&vendor=Brother"));
  });

  test("of very many values hold up nobody else", async () => {
    const { id: _, ...row } = await gateway.db.selectFrom("devices").selectAll().where("hostname", "=", "paper").executeTakeFirstOrThrow();
    await insertMany(gateway.db, "devices", Array.from({ length: 8000 }, (_each, index) => ({
      id: createId(), ...row, ip: "", ip_key: "", hostname: "hoard", tags: JSON.stringify(Array.from({ length: 64 }, (_tag, number) => `${index} ${number}`)),
    })));
    const { result, worstMs } = await watchWork(() => facets("?search=hoard"));
    expect([result.total, result.tag.length]).toEqual([8000, 50]);
    expect(worstMs).toBeLessThan(HANG_MS);
  });
});
