import { expect, test } from "vitest";
import {
  isBroadcastMac,
  isLinkLocalIp,
  isLocallyAdministeredMac,
  isMulticastIp,
  isMulticastMac,
  isUnspecifiedIp,
  isVirtualRouterMac,
  multicastMac,
  solicitedNodeAddress,
  virtualRouterProtocol,
} from "./address-facts.ts";
import { formatIp, formatMac, parseIp, parseMac } from "./addresses.ts";

const mac = (text: string) => parseMac(text) as Uint8Array;
const ip = (text: string) => parseIp(text) as Uint8Array;

test("group and local bits are distinguished", () => {
  expect([isMulticastMac(mac("01:00:5e:00:00:fb")), isMulticastMac(mac("3c:2a:f4:00:00:01"))]).toEqual([true, false]);
  expect([isLocallyAdministeredMac(mac("52:54:00:00:00:01")), isLocallyAdministeredMac(mac("3c:2a:f4:00:00:01"))]).toEqual([true, false]);
  expect([isBroadcastMac(mac("ff:ff:ff:ff:ff:ff")), isBroadcastMac(mac("ff:ff:ff:ff:ff:fe"))]).toEqual([true, false]);
});

test.each([
  ["00:00:5e:00:01:0a", "vrrp"],
  ["00:00:5e:00:02:ff", "vrrp"],
  ["00:00:0c:07:ac:01", "hsrp"],
  ["00:00:0c:9f:f1:23", "hsrp"],
  ["00:05:73:a0:0f:ff", "hsrp"],
  ["00:07:b4:00:01:02", "glbp"],
])("%s is a virtual router of %s", (text, protocol) => {
  expect(virtualRouterProtocol(mac(text))).toBe(protocol);
  expect(isVirtualRouterMac(mac(text))).toBe(true);
});

test.each(["00:00:5e:00:03:01", "00:00:0c:07:ad:01", "00:00:0c:9f:e1:23", "00:05:73:a0:1f:ff", "3c:2a:f4:00:00:01", "ff:ff:ff:ff:ff:ff"])(
  "%s is no virtual router",
  (text) => {
    expect(isVirtualRouterMac(mac(text))).toBe(false);
  },
);

test("kinds of IP addresses are recognized in both families", () => {
  expect(["224.0.0.1", "239.255.255.255", "ff02::1"].map((text) => isMulticastIp(ip(text)))).toEqual([true, true, true]);
  expect(["223.255.255.255", "240.0.0.1", "fe80::1"].map((text) => isMulticastIp(ip(text)))).toEqual([false, false, false]);
  expect(["0.0.0.0", "::", "0.0.0.1", "::1"].map((text) => isUnspecifiedIp(ip(text)))).toEqual([true, true, false, false]);
  expect(["169.254.1.1", "fe80::1", "febf::1", "fec0::1", "169.253.1.1"].map((text) => isLinkLocalIp(ip(text)))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("multicast groups have their MACs", () => {
  expect(formatMac(multicastMac(ip("224.0.0.251")))).toBe("01:00:5e:00:00:fb");
  expect(formatMac(multicastMac(ip("239.129.2.3")))).toBe("01:00:5e:01:02:03");
  expect(formatMac(multicastMac(ip("ff02::1:ff00:2")))).toBe("33:33:ff:00:00:02");
  expect(() => multicastMac(ip("192.0.2.1"))).toThrow(expect.objectContaining({ code: "unencodable" }));
});

test("the solicited-node address keeps the last three bytes", () => {
  expect(formatIp(solicitedNodeAddress(ip("2001:db8::12:3456")))).toBe("ff02::1:ff12:3456");
  expect(() => solicitedNodeAddress(ip("192.0.2.1"))).toThrow(expect.objectContaining({ code: "unencodable" }));
});
