import { HoneypotProposal, listEnvelope } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addressKey } from "../../../db/keys/address-key.ts";
import { parseNetwork } from "../../../db/keys/address-range.ts";
import { hostnameKey } from "../../../db/keys/hostname-key.ts";
import { type Stack, startStack } from "../../agents/testing/stack.ts";
import { candidatesOf, nextName } from "./groups.ts";

const AT = "2026-01-01T00:00:00.000Z";
let stack: Stack;
beforeEach(async () => {
  stack = await startStack();
});
afterEach(() => stack.close());

const addSite = async (tenantId: string) => {
  const id = createId();
  await stack.database.db.insertInto("sites").values({ id, tenant_id: tenantId, name: id, created_at: AT, probe_configuration: "{}" }).execute();
  return id;
};
const addDevice = async (siteId: string, ip: string, mac: string, of: { readonly vendor?: string; readonly device_type?: string; readonly os_guess?: string; readonly hostname?: string }) => {
  const device = { id: createId(), vendor: "", device_type: "unknown", os_guess: "", hostname: "", ...of };
  await stack.database.db.insertInto("devices").values({
    ...device, tenant_id: stack.tenantId, site_id: siteId, ip, ip_key: addressKey(ip), mac, hostname_key: hostnameKey(device.hostname),
    is_online: 1, presence_state: "online", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]", locked_fields: "[]",
  }).execute();
  await stack.database.db.insertInto("addresses").values({ device_id: device.id, tenant_id: stack.tenantId, site_id: siteId, mac, ip, ip_key: addressKey(ip), first_seen: AT, last_seen: AT, current: 1 }).execute();
};
const plan = async (prefix: string, siteId: string | null, status = "active") => {
  const range = parseNetwork(prefix);
  await stack.database.db.insertInto("ipam_prefixes").values({
    id: createId(), tenant_id: stack.tenantId, site_id: siteId, scope: siteId ?? "", prefix, first_key: range?.first ?? "", last_key: range?.last ?? "",
    sort_key: `${range?.first ?? ""}/${prefix.split("/")[1]?.padStart(3, "0")}`, length: Number(prefix.split("/")[1]), family: 4, vlan_id: null, name: "", description: "", status, created_at: AT, updated_at: AT,
  }).execute();
};
const propose = async (query = "", tenantId = stack.tenantId) => listEnvelope(HoneypotProposal).parse((await stack.call("GET", `/api/v1/honeypots/proposals${query}`, { tenantId })).body).data;

const NAS = { vendor: "Synology Incorporated", device_type: "server" };

test("decoys are proposed by what a site has most of, at addresses that are free in its plan, each another one", async () => {
  const other = await addSite(stack.tenantId);
  for (let number = 1; number <= 14; number += 1) {
    await addDevice(stack.siteId, `10.0.0.${100 + number}`, `00:11:32:00:00:${String(number).padStart(2, "0")}`, { ...NAS, hostname: `nas-${String(number).padStart(2, "0")}.example` });
  }
  for (const [number, block] of [[1, "1c:df:0f"], [2, "1c:df:0f"], [3, "02:00:00"]] as const) await addDevice(stack.siteId, `10.0.0.${number}`, `${block}:00:00:0${number}`, { vendor: "Cisco Systems, Inc", device_type: "switch", hostname: "core" });
  await addDevice(stack.siteId, "10.0.0.115", "52:54:00:00:00:01", { vendor: "QEMU", device_type: "workstation" });
  for (const number of [1, 2]) await addDevice(other, `10.0.0.${200 + number}`, `3c:d9:2b:00:00:0${number}`, { vendor: "Hewlett Packard", device_type: "printer" });
  await addDevice(other, "10.0.0.203", "00:11:32:00:01:01", NAS);
  for (const number of [4, 5]) await addDevice(other, `10.0.0.${200 + number}`, `00:1b:a9:00:00:0${number}`, { vendor: "Brother industries, LTD.", device_type: "printer" });
  await plan("10.0.0.0/24", stack.siteId);
  await plan("10.0.0.0/16", null, "container");

  expect(await propose(`?site_id=${stack.siteId}`)).toMatchObject([
    { site_id: stack.siteId, persona: "nas", name: "nas-15", devices: 14, address: "10.0.0.116/24", mac_block: "00:11:32", reason: "you have 14 Synology: be a fifteenth" },
    { persona: "switch", name: "switch-4", devices: 3, address: "10.0.0.4/24", mac_block: "1c:df:0f", reason: "you have 3 Cisco switches: be a fourth" },
  ]);
  const all = await propose();
  expect(all.filter(({ site_id: id }) => id === other)).toMatchObject([{ persona: "printer", devices: 2, address: null }]);
  expect(all.find(({ persona }) => persona === "nas")?.configuration).toBe('[[decoys]]\nname = "nas-15"\npersona = "nas"\naddress = "10.0.0.116/24"\ninterface = "INTERFACE"\nmac = "00:11:32"\n');
  expect((await propose("?per_page=1")).map(({ id }) => id)).toEqual([all[0]?.id]);
  expect((await stack.call("GET", `/api/v1/honeypots/proposals?site_id=${createId()}`)).status).toBe(404);
  expect(await propose("", createId())).toEqual([]);
});

test("an address that a decoy has already, or that is proposed for another, is not proposed; in a full network none is", async () => {
  for (const number of [1, 2]) await addDevice(stack.siteId, `10.0.0.${number}`, `00:11:32:00:00:0${number}`, NAS);
  for (const number of [3, 4]) await addDevice(stack.siteId, `10.0.0.${number}`, `c0:56:e3:00:00:0${number}`, { vendor: "Hangzhou Hikvision Digital Technology Co.,Ltd.", device_type: "camera" });
  await plan("10.0.0.0/29", stack.siteId);
  expect((await propose()).map(({ address }) => address)).toEqual(["10.0.0.5/29", "10.0.0.6/29"]);
  await addDevice(stack.siteId, "10.0.0.6", "52:54:00:00:00:06", {});
  expect((await propose()).map(({ address }) => address)).toEqual(["10.0.0.5/29", null]);
});

test("of which there are fewer than two, and what no persona plays, is not proposed", () => {
  const group = { siteId: "s", vendor: "", deviceType: "server", system: "", block: "00:11:32", devices: 1 };
  expect(candidatesOf([{ ...group, vendor: "Synology Incorporated" }, { ...group, vendor: "QNAP", devices: 9 }, { ...group, deviceType: "printer", vendor: "HPE", devices: 9 }])).toEqual([]);
  expect(candidatesOf([{ ...group, system: "Windows Server 2019", vendor: "VMware, Inc." }, { ...group, system: "Windows Server 2022", vendor: "Dell Inc.", devices: 2, block: "52:54:00" }]))
    .toMatchObject([{ persona: "windows", devices: 3, block: null }]);
});

test.each([
  [["nas-01", "nas-02", "printer7"], "nas-03"], [["srv9.example.com", "srv10"], "srv11"], [["core", ""], "x-3"], [["1234", "--7", "a\u001B1"], "x-3"], [["db099", "db100"], "db101"],
])("of names as %j the next is %s", (names, next) => {
  expect(nextName(names, "x-3")).toBe(next);
});
