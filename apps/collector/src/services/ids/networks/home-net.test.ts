import { expect, test } from "vitest";
import { isFitting, plannedNetworks, variablesOf } from "./home-net.ts";

test("prefixes that say nothing new are none", () => expect(plannedNetworks(["10.1.0.0/16", "192.168.7.0/24", "fd00::/8", "fe80::/64"])).toEqual([]));

test("of prefixes in each other the widest stays, whatever their order", () => {
  const expected = ["192.168.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "fc00::/7", "fe80::/10", "2001:db8::/32", "198.51.100.0/24"];
  const all = ["198.51.100.64/26", "2001:db8:7::/48", "198.51.100.0/24", "2001:db8::/32", "10.9.0.0/16", "no prefix"];
  expect([plannedNetworks(all), plannedNetworks(all.toReversed())]).toEqual([expected, expected]);
});

test("a plan of any size fits into a variable", () => {
  const many = plannedNetworks(Array.from({ length: 5000 }, (_, index) => `198.${index >> 8}.${index & 0xff}.0/25`));
  expect([isFitting(many), many.length > 100, (variablesOf(many)["HOME_NET"] ?? "").length <= 4096, variablesOf([])]).toEqual([true, true, true, {}]);
});
