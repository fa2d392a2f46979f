import { type Device, Device as DeviceSchema, listEnvelope } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseCsv } from "../../testing/csv.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let gateway: TestGateway;
let tenant: TestTenant;
let branch = "";

const DEVICES: readonly Partial<Device>[] = [
  { hostname: "core", ip: "10.0.0.1", vendor: "Cisco Systems, Inc", device_type: "switch", os_guess: "IOS 15", tags: ["core", "rack"],
    open_ports: [22, 443] },
  { hostname: "edge", ip: "10.0.1.1", vendor: "Aruba Networks", device_type: "router", os_guess: "ArubaOS", tags: ["core"],
    open_ports: [22] },
  { hostname: "paper", ip: "10.0.0.200", vendor: "HP", device_type: "printer", os_guess: "JetDirect", tags: [], open_ports: [9100, 443] },
  { hostname: "six", ip: "2001:db8:1::7", vendor: "Dell", device_type: "server", os_guess: "Linux", tags: ["rack"], open_ports: [] },
  { hostname: "none", ip: "", vendor: "", device_type: "unknown", os_guess: "", tags: [], open_ports: [] },
];

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant("viewer");
  branch = createId();
  await gateway.db.insertInto("sites")
    .values({ id: branch, tenant_id: tenant.tenantId, name: "branch", probe_configuration: "{}", created_at: "2026-01-01T00:00:00.000Z" })
    .execute();
  const stranger = await gateway.createTenant("viewer");
  for (const owner of [tenant, stranger]) {
    for (const [index, { hostname = "", ip = "", vendor = "", device_type = "unknown", os_guess = "", tags = [], open_ports = [] }] of DEVICES.entries()) {
      const siteId = hostname === "six" && owner === tenant ? branch : owner.siteId;
      const id = await gateway.createDevice(owner, {
        ip, hostname, vendor, device_type, os_guess, tags: JSON.stringify(tags), open_ports: JSON.stringify(open_ports), site_id: siteId,
        mac: "", first_seen: hostname === "none" ? "" : `2026-01-0${index + 1}T00:00:00.000Z`, is_online: hostname === "six" ? 0 : 1, presence_state: hostname === "six" ? "offline" : "online",
      });
      for (const [port, state] of [...open_ports.map((open) => [open, "open"] as const), [23, "closed"] as const]) {
        await gateway.db.insertInto("ports").values({
          device_id: id, tenant_id: owner.tenantId, port, protocol: "tcp", state, service: "", version: "", banner: "",
          last_scanned: "2026-01-01T00:00:00.000Z",
        }).execute();
      }
    }
  }
});
afterAll(() => gateway.stop());

const hostnames = async (filter: Readonly<Record<string, string>>) => {
  const query = new URLSearchParams(filter).toString();
  const answer = await gateway.get(`/api/v1/devices?${query}`, tenant.token);
  expect([query, answer.status]).toEqual([query, 200]);
  const { data, meta } = listEnvelope(DeviceSchema).parse(answer.body);
  expect(meta.total).toBe(data.length);
  // Whatever a list is narrowed to, its export is.
  const exported = await fetch(`${gateway.url}/api/v1/devices/export?${query}`, { headers: { authorization: `Bearer ${tenant.token}` } });
  expect(parseCsv(await exported.text()).slice(1).map((row) => String(row[3])).toSorted())
    .toEqual(data.map(({ hostname }) => hostname).toSorted());
  return data.map(({ hostname }) => hostname).toSorted().join(" ");
};

describe("a filter of devices", () => {
  test.each([
    [{ vendor: "cisco,aruba" }, "core edge"],
    [{ vendor: String.raw`Systems\, Inc` }, "core"],
    [{ vendor: "!cisco,!aruba" }, "none paper six"],
    [{ device_type: "!printer" }, "core edge none six"],
    [{ device_type: "switch,router" }, "core edge"],
    [{ device_type: "switch,router,!router" }, "core"],
    [{ os: "linux,ios" }, "core six"],
    [{ os: "!linux,!ios,!jet" }, "edge none"],
    [{ tag: "core,rack" }, "core edge six"],
    [{ tag: "rack,!core" }, "six"],
    [{ tag: "!core,!rack" }, "none paper"],
    [{ presence_state: "!online" }, "six"],
    [{ presence_state: "offline,unknown" }, "six"],
    [{ subnet: "10.0.0.0/24" }, "core paper"],
    [{ subnet: "10.0.0.77/24" }, "core paper"],
    [{ subnet: "10.0.0.0/16,!10.0.0.192/26" }, "core edge"],
    [{ subnet: "2001:db8::/32" }, "six"],
    [{ subnet: "2001:db8:1::7,10.0.1.1" }, "edge six"],
    [{ subnet: "::ffff:10.0.1.0/120" }, "edge"],
    [{ subnet: "0.0.0.0/0" }, "core edge paper"],
    [{ subnet: "::/0" }, "six"],
    [{ subnet: "!0.0.0.0/0" }, "none six"],
    [{ open_port: "22" }, "core edge"],
    [{ open_port: "22,443" }, "core edge paper"],
    [{ open_port: "443,!22" }, "paper"],
    [{ open_port: "!22,!443" }, "none six"],
    [{ open_port: "23" }, ""],
    [{ open_port: "22", subnet: "10.0.1.0/24", vendor: "!cisco" }, "edge"],
    [{ open_port: "443", search: "core" }, "core"],
    [{ vendor: "", device_type: "", open_port: "" }, "core edge none paper six"],
    [{ filter: 'vendor:"Systems, Inc" tag:core' }, "core"],
    [{ filter: "type:switch,router -port:443", sort: "ip" }, "edge"],
    [{ filter: "online:true subnet:10.0.0.0/24", tag: "!core" }, "paper"],
    [{ filter: "paper" }, "paper"],
    [{ found_since: "2026-01-03T00:00:00Z" }, "paper six"],
    [{ found_until: "2026-01-03T00:00:00Z" }, "core edge"],
    [{ filter: "found:>2026-01-02T00:00:00Z found:<2026-01-04T00:00:00Z" }, "edge paper"],
    [{ filter: "" }, "core edge none paper six"],
  ] as readonly [Readonly<Record<string, string>>, string][])("as %j lets through: %s", async (filter, expected) => {
    for (const sort of ["ip", "-hostname", "last_seen"]) expect(await hostnames({ ...filter, sort })).toBe(expected);
  });

  test("of sites takes several and leaves some out, and names no site of others", async () => {
    const { siteId } = tenant;
    expect(await hostnames({ site_id: `${siteId},${branch}` })).toBe("core edge none paper six");
    expect(await hostnames({ site_id: branch })).toBe("six");
    expect(await hostnames({ site_id: `!${branch}` })).toBe("core edge none paper");
    expect(await hostnames({ site_id: `!${siteId}`, is_online: "false" })).toBe("six");
    for (const unknown of [`${siteId},${createId()}`, `!${createId()}`]) {
      expect((await gateway.get(`/api/v1/devices?site_id=${unknown}`, tenant.token)).status).toBe(404);
    }
  });

  test("says nothing twice", async () => {
    const answer = await gateway.get("/api/v1/devices?tag=core&filter=tag:rack", tenant.token);
    expect([answer.status, answer.error.details]).toEqual([400, [{ path: "filter", message: expect.stringContaining("tag") as string }]]);
  });

  test.each([
    ["device_type", "toaster"], ["device_type", "printer,toaster"], ["presence_state", "!gone"], ["subnet", "10.0.0.0/33"],
    ["subnet", "10.0.0"],
    ["open_port", "65536"], ["open_port", "-1"], ["open_port", "22;443"], ["open_port", "0x16"], ["site_id", "x"], ["vendor", "a,,b"],
    ["filter", "type:toaster"], ["filter", "seen:7d"], ["filter", "x".repeat(2001)],
  ])("%s=%s is 400 and names the filter", async (name, value) => {
    for (const path of ["devices", "devices/export"]) {
      const answer = await gateway.get(`/api/v1/${path}?${new URLSearchParams({ [name]: value }).toString()}`, tenant.token);
      expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, name]);
    }
  });
});
