import { type AddressPrefix, formatIp, formatPrefix, ipv4Bytes, parsePrefix } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createLink, type Link } from "../capture/link.ts";
import { planTargets } from "./scan-targets.ts";

const addresses = ["10.0.0.5/24", "10.0.1.5/24", "fd00:1::5/64", "fe80::5/64"].map((text) =>
  ({ ip: text.split("/")[0] as string, prefixLength: Number(text.split("/")[1]) }));
const link = createLink({ mac: "02:00:00:00:00:01", up: true, addresses }) as Link;
const plan = (target: string, on = link) => {
  const targets = planTargets(on, parsePrefix(target) as AddressPrefix);
  if ("refused" in targets) return "refused";
  return {
    ranges: targets.ranges.map(({ first, count }) => `${formatIp(ipv4Bytes(first))} ${count}`),
    routed: targets.routed.map(({ first, count }) => `${formatIp(first)} ${count}`),
    neighbors6: targets.neighbors6.map(({ prefix, sources }) =>
      `${formatPrefix(prefix)} from ${sources.map((bytes) => formatIp(bytes)).join(" ")}`),
  };
};
const nothing = { ranges: [], routed: [], neighbors6: [] };

describe("the targets of a scan", () => {
  test("of an own subnet are asked by ARP, those behind a router by what is routed", () => {
    expect(plan("10.0.0.128/25")).toEqual({ ...nothing, ranges: ["10.0.0.128 127"] });
    expect(plan("10.9.0.0/24")).toEqual({ ...nothing, routed: ["10.9.0.0 256"] });
    expect(plan("2001:db8::40/126")).toEqual({ ...nothing, routed: ["2001:db8::40 4"] });
  });

  test("of a network with own subnets in it are both", () => {
    expect(plan("10.0.0.0/22")).toEqual({ ...nothing, ranges: ["10.0.0.1 254", "10.0.1.1 254"], routed: ["10.0.2.0 512"] });
  });

  test("of the own link are asked by IPv6 from the nearest address first, however large the network", () => {
    expect(plan("fd00:1::/64")).toEqual({ ...nothing, neighbors6: ["fd00:1::/64 from fd00:1::5 fe80::5"] });
    expect(plan("fe80::/64")).toEqual({ ...nothing, neighbors6: ["fe80::/64 from fe80::5 fd00:1::5"] });
  });

  test("are refused where no router leads, or there are too many, or nothing to ask from", () => {
    for (const target of ["127.0.0.1", "169.254.3.0/24", "224.0.0.0/24", "ff02::1", "::1", "2001:db8::/64"]) {
      expect([target, plan(target)]).toEqual([target, "refused"]);
    }
    const ipv4Only = createLink({ mac: "02:00:00:00:00:01", up: true, addresses: addresses.slice(0, 1) }) as Link;
    expect([plan("fe80::/64", ipv4Only), plan("10.8.0.0/15", ipv4Only)]).toEqual(["refused", "refused"]);
  });
});
