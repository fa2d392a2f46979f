import { expect, test } from "vitest";
import { toRoute } from "./route.ts";

test("a route has its next hop, of either family, and our own address", () => {
  expect(toRoute([{ dst: "10.9.0.1", gateway: "10.0.0.1", dev: "lan0", prefsrc: "10.0.0.5", flags: [] }])).toEqual({
    gateway: "10.0.0.1", source: "10.0.0.5",
  });
  expect(toRoute([{ dst: "10.9.0.1", via: { family: "inet6", host: "fe80::1" }, dev: "lan0", prefsrc: "10.0.0.5" }])).toEqual({
    gateway: "fe80::1", source: "10.0.0.5",
  });
  expect(toRoute([{ dst: "2001:db8::1", gateway: "fe80::1", dev: "lan0", prefsrc: "2001:db8:1::5" }])).toEqual({
    gateway: "fe80::1", source: "2001:db8:1::5",
  });
});

test("an address on the link has no next hop, and one that cannot be reached no route", () => {
  expect(toRoute([{ dst: "10.0.0.9", dev: "lan0", prefsrc: "10.0.0.5" }])).toEqual({ gateway: null, source: "10.0.0.5" });
  expect([
    toRoute([]), toRoute([{ type: "unreachable", dst: "10.9.0.1", prefsrc: "10.0.0.5" }]), toRoute([{ dst: "10.9.0.1", dev: "lan0" }]),
  ]).toEqual([null, null, null]);
});
