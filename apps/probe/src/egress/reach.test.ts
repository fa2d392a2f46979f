import { describe, expect, test } from "vitest";
import { type AddressPrefix, parsePrefix } from "@lanthorn/packets";
import { createLink, type Link } from "../capture/link.ts";
import { createEgressPolicy } from "./policy.ts";

const link = createLink({
  mac: "02:00:00:00:00:02", up: true,
  addresses: [{ ip: "192.168.1.2", prefixLength: 24 }, { ip: "2001:db8:1::2", prefixLength: 64 }],
}) as Link;
const reachOf = ({ networks, routed, scanned }: { networks: string[]; routed: string[]; scanned: string[] }) => createEgressPolicy({
  sweep: { enabled: true, intervalSeconds: 300, packetsPerSecond: 200, networks, routed }, scanNetworks: scanned,
  scanPacketsPerSecond: 1000, excluded: [],
}).reach;
const covered = (target: string, file: { networks?: string[]; routed?: string[]; scanned?: string[] } = {}, on: Link | null = link) => {
  const { networks = [], routed = [], scanned = [] } = file;
  return reachOf({ networks, routed, scanned }).covers(parsePrefix(target) as AddressPrefix, on);
};

describe("a probe whose file names no networks", () => {
  test.for([
    ["192.168.1.0/24", true], ["192.168.1.7", true], ["2001:db8:1::/120", true], ["fe80::/64", true],
    ["192.168.0.0/16", false], ["10.9.0.0/16", false], ["203.0.113.7", false], ["0.0.0.0/0", false], ["2001:db8:2::/120", false], ["::/0", false],
  ] as const)("is asked for its own subnets alone: %s → %s", ([target, expected]) => {
    expect(covered(target)).toBe(expected);
  });

  test("is asked for what its file adds behind routers", () => {
    expect(covered("10.9.3.0/24", { routed: ["10.9.0.0/16"] })).toBe(true);
    expect(covered("10.8.3.7", { scanned: ["10.8.0.0/16"] })).toBe(true);
    expect(covered("10.7.0.0/15", { scanned: ["10.8.0.0/16"] })).toBe(false);
  });

  test("is asked for nothing of its own while the interface is away", () => {
    expect(covered("192.168.1.7", {}, null)).toBe(false);
  });
});

test("a probe whose file names networks is asked for those alone", () => {
  const file = { networks: ["192.168.1.0/28"] };
  expect(["192.168.1.0/29", "192.168.1.64/26", "10.9.0.0/16"].map((target) => covered(target, file))).toEqual([true, false, false]);
});

test("one address is held as a network of one is covered", () => {
  const reach = reachOf({ networks: [], routed: [], scanned: ["10.8.0.0/16"] });
  expect(["192.168.1.9", "10.8.1.1", "10.9.1.1", "not an address"].map((ip) => reach.holds(ip, link))).toEqual([true, true, false, false]);
});
