import { parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createClientFinder } from "./client-finder.ts";
import type { DnsClient } from "./policy.ts";

const [TABLET, PRINTER] = [
  { id: "tablet", name: "Tablet", groups: ["children"], ips: ["192.0.2.7", "2001:db8::7"], macs: ["aa:bb:cc:00:00:07", "aa:bb:cc:00:00:08"] },
  { id: "printer", name: "", groups: [], ips: ["192.0.2.9"], macs: [] },
];
const client = (ip: string): DnsClient => ({ deviceId: null, groupIds: [], vlanId: null, siteId: "", address: parseIp(ip) as Uint8Array, names: [] });
const find = createClientFinder({ siteId: "here", devices: [TABLET, PRINTER] });

test("a device is known by its MAC address, else by an address that nobody else is seen with", () => {
  for (const [ip, mac, deviceId] of [
    ["192.0.2.7", null, "tablet"], ["2001:db8::7", null, "tablet"], ["192.0.2.200", "aa:bb:cc:00:00:08", "tablet"], ["2001:db8::abcd", "aa:bb:cc:00:00:07", "tablet"],
    ["192.0.2.9", "aa:bb:cc:00:00:07", "tablet"], ["192.0.2.7", "aa:bb:cc:00:00:99", null], ["192.0.2.9", "aa:bb:cc:00:00:99", "printer"], ["192.0.2.8", null, null],
  ] as const) expect([ip, mac, find(client(ip), mac).deviceId]).toEqual([ip, mac, deviceId]);
  expect(find(client("192.0.2.7"))).toMatchObject({ siteId: "here", groupIds: ["children"], names: ["Tablet"], vlanId: null });
  expect(find({ ...client("192.0.2.8"), deviceId: "tablet", groupIds: ["own"] })).toMatchObject({ deviceId: "tablet", groupIds: ["own"] });
});

test("a client is in the VLAN of the smallest network that has its address", () => {
  const inVlans = createClientFinder({ siteId: "here", devices: [], vlans: [
    { vlan: 10, network: "10.0.0.0/8" }, { vlan: 20, network: "10.20.0.0/16" }, { vlan: 21, network: "10.20.7.128/25" }, { vlan: 60, network: "2001:db8:60::/48" }, { vlan: 1, network: "no network" },
  ] });
  for (const [ip, vlan] of [["10.1.1.1", 10], ["10.20.7.127", 20], ["10.20.7.128", 21], ["192.0.2.1", null], ["2001:db8:60:1::5", 60], ["2001:db8:61::5", null]] as const) {
    expect([ip, inVlans(client(ip)).vlanId]).toEqual([ip, vlan]);
  }
  expect(inVlans({ ...client("10.1.1.1"), vlanId: 7 }).vlanId).toBe(7);
});
