import { describe, expect, test } from "vitest";
import { type AddressPrefix, formatIpv4, ipv4Bytes, parsePrefix } from "@lanthorn/packets";
import { createLink, type Link } from "../capture/link.ts";
import { planSweep, type SweepPlan } from "./sweep-plan.ts";

function linkWith(...addresses: readonly string[]): Link {
  const own = addresses.map((text) => ({ ip: text.split("/")[0] as string, prefixLength: Number(text.split("/")[1]) }));
  return createLink({ mac: "02:00:00:00:00:01", up: true, addresses: own }) as Link;
}

function plan(link: Link, ...networks: readonly string[]): SweepPlan {
  return planSweep(
    link,
    networks.map((text) => parsePrefix(text) as AddressPrefix),
  );
}

function ends({ ranges }: SweepPlan): string[] {
  return ranges.map(({ first, count }) => `${formatIpv4(ipv4Bytes(first))}-${formatIpv4(ipv4Bytes(first + count - 1))}`);
}

describe("a sweep plan", () => {
  test("holds a subnet without its own and its broadcast address", () => {
    expect(ends(plan(linkWith("192.168.1.77/24")))).toEqual(["192.168.1.1-192.168.1.254"]);
  });

  test("holds both addresses of a /31, the two hosts of a /30, and nothing of a /32", () => {
    expect(ends(plan(linkWith("10.0.0.4/31")))).toEqual(["10.0.0.4-10.0.0.5"]);
    expect(ends(plan(linkWith("10.0.0.5/30")))).toEqual(["10.0.0.5-10.0.0.6"]);
    expect(ends(plan(linkWith("10.0.0.5/32")))).toEqual([]);
  });

  test("holds each of several subnets, and one of them once for two addresses in it", () => {
    expect(ends(plan(linkWith("10.1.0.2/24", "172.16.0.1/28", "10.1.0.3/24", "2001:db8::1/64")))).toEqual([
      "10.1.0.1-10.1.0.254",
      "172.16.0.1-172.16.0.14",
    ]);
  });

  test("refuses a subnet larger than a /16 with the reason, and takes the parts of it that are named", () => {
    const refused = plan(linkWith("10.0.0.1/8"));
    expect(refused.ranges).toEqual([]);
    expect(refused.refused).toEqual([expect.stringContaining("10.0.0.0/8")]);
    expect(ends(plan(linkWith("10.0.0.1/8"), "10.0.0.0/24", "10.9.0.0/16"))).toEqual(["10.0.0.1-10.0.0.255", "10.9.0.0-10.9.255.255"]);
    expect(plan(linkWith("10.0.0.1/16")).refused).toEqual([]);
  });

  test("refuses a part that is in none of the own subnets", () => {
    const outside = plan(linkWith("10.0.0.1/24"), "10.0.1.0/24", "0.0.0.0/0");
    expect(outside.ranges).toEqual([]);
    expect(outside.refused).toHaveLength(2);
  });

  test("leaves link-local addresses to listening", () => {
    expect(plan(linkWith("169.254.7.7/16")).ranges).toEqual([]);
  });
});
