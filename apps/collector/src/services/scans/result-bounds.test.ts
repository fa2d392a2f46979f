import { expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { parseNetwork } from "../../db/keys/address-range.ts";
import { refuseResult } from "./result-bounds.ts";

const scanOf = (target: string, profile: string, stored = 0) => {
  const range = parseNetwork(target);
  return { target, target_first: range?.first ?? "", target_last: range?.last ?? "", profile, stored_rows: stored };
};
const refusal = (scan: ReturnType<typeof scanOf>, ip: string) => refuseResult(scan, ip, addressKey(ip))?.code ?? null;

test("a scan finds what is inside its target, and on an IPv6 link the link's own addresses", () => {
  const scan = scanOf("192.0.2.0/24", "quick");
  expect(["192.0.2.0", "192.0.2.255", "192.0.3.0", "192.0.1.255", "2001:db8::1"].map((ip) => refusal(scan, ip)))
    .toEqual([null, null, "outside-target", "outside-target", "outside-target"]);
  expect(["2001:db8::1", "fe80::1", "2001:db9::1"].map((ip) => refusal(scanOf("2001:db8::/64", "quick"), ip)))
    .toEqual([null, null, "outside-target"]);
});

test("a scan has no more results than its profile can find in its target, each reported twice", () => {
  const most = 2 * 256 * 101;
  expect([most - 1, most].map((stored) => refusal(scanOf("192.0.2.0/24", "quick", stored), "192.0.2.1"))).toEqual([null, "too-many-results"]);
  expect([99, 100].map((stored) => refusal(scanOf("192.0.2.1/32", "discovery", stored), "192.0.2.1"))).toEqual([null, "too-many-results"]);
  expect(refusal(scanOf("10.0.0.0/16", "full", 2_000_000), "10.0.0.1")).toBe("too-many-results");
});
