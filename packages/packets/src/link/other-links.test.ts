import { expect, test } from "vitest";
import { decodeFrame } from "../frame.ts";
import { isLinkType, LINK_TYPE } from "../numbers.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { ARP_REQUEST, UDP, UDP_OVER_IPV6 } from "../testing/real-frames.ts";

const IPV4 = UDP.subarray(14);
const IPV6 = UDP_OVER_IPV6.subarray(14);
const MAC = fromHex("02000000000a");

const COOKED = joinBytes(fromHex("0001 0001 0006 02000000000a 0000 0806"), ARP_REQUEST.subarray(14));
const COOKED_V2 = joinBytes(fromHex("0800 0000 00000002 0001 02 06 02000000000a 0000"), IPV4);

test("raw IP is recognized by its version", () => {
  for (const linkType of [LINK_TYPE.rawIp, LINK_TYPE.rawIpv4]) {
    const value = { network: "ipv4", transport: "udp", sourceMac: null, audience: "unknown" };
    expect(decodeFrame(IPV4, { linkType })).toMatchObject({ ok: true, value });
  }
  expect(decodeFrame(IPV6, { linkType: LINK_TYPE.rawIp })).toMatchObject({ ok: true, value: { network: "ipv6", sourcePort: 40_000 } });
  expect(decodeFrame(fromHex("50"), { linkType: LINK_TYPE.rawIp })).toEqual({ ok: false, code: "bad-value", layer: "raw-ip", offset: 0 });
});

test("Linux's cooked header gives the sender and the audience, not the destination", () => {
  expect(decodeFrame(COOKED, { linkType: LINK_TYPE.linuxCooked })).toMatchObject({
    ok: true,
    value: { sourceMac: MAC, destinationMac: null, audience: "broadcast", network: "arp", arpOperation: 1 },
  });
});

test("its second version has the same at other places", () => {
  expect(decodeFrame(COOKED_V2, { linkType: LINK_TYPE.linuxCookedV2 })).toMatchObject({
    ok: true,
    value: { sourceMac: MAC, audience: "multicast", network: "ipv4", transport: "udp" },
  });
});

test("a cooked frame without an EtherType is LLC", () => {
  const bytes = fromHex("0002 0001 0006 02000000000a 0000 0004 424203 0000");
  const value = { network: "llc", networkBytes: fromHex("4242030000") };
  expect(decodeFrame(bytes, { linkType: LINK_TYPE.linuxCooked })).toMatchObject({ ok: true, value });
});

test("a loopback's address family is read in either byte order", () => {
  const decode = (family: string, packet: Uint8Array) => decodeFrame(joinBytes(fromHex(family), packet), { linkType: LINK_TYPE.null });
  for (const family of ["02000000", "00000002"]) {
    expect(decode(family, IPV4)).toMatchObject({ ok: true, value: { network: "ipv4" } });
  }
  for (const family of ["18000000", "1c000000", "1e000000", "0a000000"]) {
    expect(decode(family, IPV6)).toMatchObject({ ok: true, value: { network: "ipv6" } });
  }
  expect(decode("63000000", IPV4)).toEqual({ ok: false, code: "bad-value", layer: "null", offset: 0 });
});

test("link types of a capture file that are read differ from those that are not", () => {
  expect([0, 1, 101, 108, 113, 228, 229, 276].every((linkType) => isLinkType(linkType))).toBe(true);
  expect([2, 105, 127, -1, 1.5].some((linkType) => isLinkType(linkType))).toBe(false);
});

test("every truncation and 20,000 mutations end in a result", () => {
  const decodeAs = (linkType: (typeof LINK_TYPE)[keyof typeof LINK_TYPE]) => (bytes: Uint8Array) => decodeFrame(bytes, { linkType });
  expectResults(decodeAs(LINK_TYPE.rawIp), IPV6, { seed: 21, shortest: IPV6.length });
  expectResults(decodeAs(LINK_TYPE.linuxCooked), COOKED, { seed: 22, shortest: COOKED.length });
  expectResults(decodeAs(LINK_TYPE.linuxCookedV2), COOKED_V2, { seed: 23, shortest: COOKED_V2.length });
  expectResults(decodeAs(LINK_TYPE.null), joinBytes(fromHex("02000000"), IPV4), { seed: 24, shortest: 4 + IPV4.length });
});
