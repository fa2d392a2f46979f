import { type Device, DeviceProfile, EVENTS, listEnvelope, Device as DeviceSchema } from "@lanthorn/contract";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createInventoryRetention } from "../../retention/inventory.ts";
import { parseCsv } from "../../testing/csv.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

const MAC = "00:1b:21:aa:bb:07";
let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  gateway = await startTestGateway({ clock });
  tenant = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const create = async (body: object) => {
  const answer = await gateway.call("POST", "/api/v1/devices", tenant.token, body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return DeviceProfile.parse(answer.body);
};
const put = async (id: string, body: object) =>
  DeviceProfile.parse((await gateway.call("PUT", `/api/v1/devices/${id}`, tenant.token, body)).body);
const listed = async (query: string): Promise<readonly Device[]> =>
  listEnvelope(DeviceSchema).parse((await gateway.get(`/api/v1/devices?${query}`, tenant.token)).body).data;
const events = () => gateway.db.selectFrom("events").selectAll().where("tenant_id", "=", tenant.tenantId).orderBy("seq").execute();

describe("a device made by hand", () => {
  test("is announced as discovery announces one, in the log that stream and webhooks read", async () => {
    const device = await create({ ip: "10.0.0.7", mac: MAC, hostname: "nas" });
    const [event, ...others] = await events();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: "host_found", device_id: device.id, site_id: tenant.siteId, probe_id: null,
      occurred_at: "2026-06-01T00:00:00.000Z" });
    expect(EVENTS.host_found.data.parse(JSON.parse(event?.data ?? ""))).toEqual({
      ip: "10.0.0.7", mac: MAC, hostname: "nas", vendor: "Intel Corporate", addresses: ["10.0.0.7"], evidence: [],
    });
  });

  test("that is refused is not announced", async () => {
    await create({ ip: "10.0.0.7", mac: MAC });
    expect((await gateway.call("POST", "/api/v1/devices", tenant.token, { mac: MAC })).status).toBe(409);
    expect((await events()).length).toBe(1);
  });

  test("of a MAC alone is not announced: an event tells of an address", async () => {
    await create({ mac: MAC });
    expect(await events()).toEqual([]);
  });

  test("has its address locked where that is asked, and only then", async () => {
    expect((await create({ ip: "10.0.0.7", hostname: "nas" })).locked_fields).toEqual(["hostname"]);
    expect((await create({ ip: "10.0.0.8", mac: MAC, locked_fields: ["mac", "ip"] })).locked_fields).toEqual(["ip", "mac"]);
    for (const body of [
      { ip: "10.0.0.9", locked_fields: ["mac"] }, { ip: "10.0.0.9", locked_fields: ["hostname"] }, { ip: "10.0.0.9", locked_fields: "ip" },
    ]) {
      const { status, error } = await gateway.call("POST", "/api/v1/devices", tenant.token, body);
      expect([body, status, (error.details as { path: string }[])[0]?.path.split(".")[0]]).toEqual([body, 400, "locked_fields"]);
    }
  });

  test("has the maker of its MAC, which goes with the MAC and comes back when a person leaves it", async () => {
    const { id, vendor } = await create({ mac: MAC });
    expect(vendor).toBe("Intel Corporate");
    expect((await put(id, { vendor: "ours" })).vendor).toBe("ours");
    expect(await put(id, { vendor: null })).toMatchObject({ vendor: "Intel Corporate", locked_fields: [] });
    expect((await put(id, { mac: "f0-9f-c2-00-00-01" })).vendor).toMatch(/Ubiquiti/);
    expect((await create({ mac: "02:00:00:00:00:01" })).vendor).toBe("");
  });

  test("was never seen: it sorts before all that were, is in no period, and its export has an empty cell", async () => {
    const never = await create({ ip: "10.0.0.7" });
    const seen = await gateway.createDevice(tenant, { ip: "10.0.0.8", last_seen: "2026-05-01T00:00:00.000Z" });
    const ids = async (query: string) => (await listed(query)).map(({ id }) => id);
    expect(await ids("sort=last_seen")).toEqual([never.id, seen]);
    expect(await ids("sort=-last_seen")).toEqual([seen, never.id]);
    expect(await ids("until=1h")).toEqual([seen]);
    expect(await ids("since=365d")).toEqual([seen]);
    const page = (await gateway.get("/api/v1/devices?sort=last_seen&per_page=1", tenant.token)).body as { meta: { next_cursor: string } };
    expect(await ids(`sort=last_seen&per_page=1&cursor=${page.meta.next_cursor}`)).toEqual([seen]);
    const exported = await fetch(`${gateway.url}/api/v1/devices/export`, { headers: { authorization: `Bearer ${tenant.token}` } });
    const [head = [], row = []] = parseCsv(await exported.text());
    expect([row[head.indexOf("first_seen")], row[head.indexOf("last_seen")]]).toEqual(["", ""]);
  });

  test("keeps when the other was seen first, whichever of the two it is merged into", async () => {
    for (const [index, way] of (["into", "with"] as const).entries()) {
      const made = await create({ ip: `10.0.1.${index}` });
      const at = "2026-05-01T00:00:00.000Z";
      const seen = await gateway.createDevice(tenant, { ip: `10.0.2.${index}`, first_seen: at, last_seen: at });
      const answer = await gateway.call("POST", `/api/v1/devices/${made.id}/merge`, tenant.token, { [way]: seen });
      expect([way, answer.status, DeviceProfile.parse(answer.body)]).toMatchObject([way, 200, { first_seen: at, last_seen: at }]);
    }
  });

  test("is not removed for not being seen when a site has too many devices", async () => {
    const { id } = await create({ ip: "10.0.0.7" });
    for (let last = 1; last <= 3; last += 1) {
      await gateway.createDevice(tenant, { ip: `10.0.3.${last}`, last_seen: `2026-05-0${last}T00:00:00.000Z` });
    }
    const retention = createInventoryRetention({ db: gateway.db, reads: gateway.reads, clock, log: silentLog }, {
      keepDevices: 2, keepMerges: 10, keepDays: 365, keep: { device_changes: 9, addresses: 9, evidence: 9, ports: 9, device_keys: 9, port_looks: 9 },
    });
    await retention.run();
    await retention.close();
    expect((await listed("")).map((device) => [device.id === id, device.ip])).toEqual([[true, "10.0.0.7"], [false, "10.0.3.3"]]);
  });
});
