import { decodeFrame, encodeArp, encodeEthernet, encodeIcmpv4, encodeIpv4, encodeLlc, encodeIpv6, encodeTcp, ETHER_TYPE, IP_PROTOCOL, parseIp, TCP_FLAG } from "@lanthorn/packets";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { createPrivacyCut, KEEP_ALL, narrower } from "./privacy.ts";
import { udpFrame, viewOf } from "./testing/frames.ts";

const ethernet = (etherType: number, payload: Uint8Array) => encodeEthernet({
  destination: Uint8Array.of(2, 0, 0, 0, 0, 2), source: Uint8Array.of(2, 0, 0, 0, 0, 1), etherType, payload,
});
const ends = (source: string, destination: string) => ({ source: parseIp(source) as Uint8Array, destination: parseIp(destination) as Uint8Array });
const tcp = (source: string, destination: string, payload = new Uint8Array(500)) => {
  const both = ends(source, destination);
  const segment = encodeTcp({
    sourcePort: 50_000, destinationPort: 443, sequenceNumber: 1, acknowledgmentNumber: 2, flags: TCP_FLAG.ack, payload,
  }, both);
  return source.includes(":") ? ethernet(ETHER_TYPE.ipv6, encodeIpv6({ protocol: IP_PROTOCOL.tcp, ...both, payload: segment }))
    : ethernet(ETHER_TYPE.ipv4, encodeIpv4({ protocol: IP_PROTOCOL.tcp, ...both, payload: segment }));
};
const kept = (frame: Uint8Array, privacy: Partial<typeof KEEP_ALL>) => createPrivacyCut({ ...KEEP_ALL, ...privacy }).keptLength(viewOf(frame));

test("everything is kept unless something is to be left out", () => {
  expect(kept(tcp("10.0.0.1", "10.0.0.2"), {})).toBe(554);
  expect(createPrivacyCut(KEEP_ALL).words).toBe("");
});

test("headers only ends where the payload begins", () => {
  const headersOnly = { headersOnly: true };
  expect(kept(tcp("10.0.0.1", "10.0.0.2"), headersOnly)).toBe(54);
  expect(kept(tcp("2001:db8::1", "2001:db8::2"), headersOnly)).toBe(74);
  expect(kept(udpFrame({ payload: new Uint8Array(300) }), headersOnly)).toBe(42);
  expect(kept(ethernet(ETHER_TYPE.ipv4, encodeIpv4({ protocol: 99, ...ends("10.0.0.1", "10.0.0.2"), payload: new Uint8Array(400) })), headersOnly)).toBe(34);
  expect(kept(ethernet(0x8864, new Uint8Array(400)), headersOnly)).toBe(14);
  const arp = encodeArp({
    operation: 1, senderHardwareAddress: new Uint8Array(6), senderProtocolAddress: new Uint8Array(4), targetHardwareAddress: new Uint8Array(6), targetProtocolAddress: new Uint8Array(4),
  });
  expect(kept(ethernet(ETHER_TYPE.arp, arp), headersOnly)).toBe(42);
});

test("a network's frames are cut in both directions, others are not", () => {
  const networks = ["192.168.7.0/24", "2001:db8:7::/48"];
  const ways = [["192.168.7.9", "10.0.0.1", 54], ["10.0.0.1", "192.168.7.9", 54], ["10.0.0.1", "192.168.8.9", 554],
    ["2001:db8:7::1", "2001:db8:8::1", 74], ["2001:db8:8::1", "2001:db8:8::2", 574]] as const;
  for (const [source, destination, length] of ways) expect(kept(tcp(source, destination), { headersOnlyNetworks: networks })).toBe(length);
});

test("what is inside of a tunnel is not kept while networks are named: its addresses are others", () => {
  const privacy = { headersOnlyNetworks: ["192.168.7.0/24"] };
  const inner = tcp("192.168.7.9", "192.168.7.10");
  const over = (protocol: number, payload: Uint8Array) => ethernet(ETHER_TYPE.ipv4, encodeIpv4({ protocol, ...ends("10.0.0.1", "10.0.0.2"), payload }));
  for (const port of [4341, 4789, 6080, 6635]) expect(kept(udpFrame({ destinationPort: port, payload: inner }), privacy)).toBe(42);
  expect(kept(over(47, inner), privacy)).toBe(34);
  expect(kept(over(4, inner.subarray(14)), privacy)).toBe(34);
  expect(kept(ethernet(0x8847, inner), privacy)).toBe(14);
  const fragment = encodeIpv4({ protocol: IP_PROTOCOL.udp, ...ends("10.0.0.1", "10.0.0.2"), fragmentOffset: 800, payload: inner });
  expect(kept(ethernet(ETHER_TYPE.ipv4, fragment), privacy)).toBe(34);
});

test("of what an ICMP error quotes only headers are kept where an end of the quoted packet lies in a network", () => {
  const privacy = { headersOnlyNetworks: ["192.0.2.0/24", "2001:db8:7::/48"] };
  const error = (original: Uint8Array, type = 3) => ethernet(ETHER_TYPE.ipv4, encodeIpv4({
    protocol: IP_PROTOCOL.icmpv4, ...ends("203.0.113.1", "198.51.100.7"), payload: encodeIcmpv4({ kind: "other", type, code: 1, body: Buffer.concat([new Uint8Array(4), original]) }),
  }));
  const error6 = (original: Uint8Array, type = 1) => ethernet(ETHER_TYPE.ipv6, encodeIpv6({
    protocol: IP_PROTOCOL.icmpv6, ...ends("2001:db8:9::1", "2001:db8:9::2"), payload: Buffer.concat([Uint8Array.of(type, 0, 0, 0, 0, 0, 0, 0), original]),
  }));
  const udp = udpFrame({ source: "198.51.100.7", destination: "192.0.2.5", payload: new Uint8Array(60) }).subarray(14);
  expect(kept(error(udp), privacy)).toBe(14 + 20 + 8 + 28);
  expect(kept(error(tcp("192.0.2.5", "198.51.100.7").subarray(14)), privacy)).toBe(14 + 20 + 8 + 40);
  // Eight bytes behind the IP header, as RFC 792 has it: the ports are among them.
  expect(kept(error(tcp("192.0.2.5", "198.51.100.7").subarray(14, 14 + 28)), privacy)).toBe(14 + 20 + 8 + 28);
  expect(kept(error6(tcp("2001:db8:7::1", "2001:db8:9::2").subarray(14)), privacy)).toBe(14 + 40 + 8 + 60);
  // What cannot be read cannot be judged.
  expect(kept(error(new Uint8Array(80)), privacy)).toBe(14 + 20 + 8);
  expect(kept(error(new Uint8Array(80), 40), privacy)).toBe(14 + 20 + 8);
  expect(kept(error6(new Uint8Array(300), 137), privacy)).toBe(14 + 40 + 8 + 32);
  const others = [error(tcp("10.0.0.1", "198.51.100.7").subarray(14)), error(new Uint8Array(80), 8), error6(tcp("2001:db8:8::1", "2001:db8:9::2").subarray(14)), error6(new Uint8Array(80), 129)];
  for (const frame of others) expect(kept(frame, privacy)).toBe(frame.length);
  expect(kept(error(udp), { headersOnly: true })).toBe(14 + 20 + 8 + 28);
});

test("IP over LLC and compressed IP pass no network; what switches tell each other does", () => {
  const privacy = { headersOnlyNetworks: ["192.0.2.0/24"] };
  const llc = (accessPoint: number, snap: { readonly organization: number; readonly protocol: number } | null) => {
    const bytes = encodeLlc({ destinationServiceAccessPoint: accessPoint, sourceServiceAccessPoint: accessPoint, control: 3, snap, payload: tcp("192.0.2.5", "10.0.0.1", new Uint8Array(50)).subarray(14) });
    return Uint8Array.of(2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, bytes.length, ...bytes);
  };
  expect(kept(llc(0x06, null), privacy)).toBe(14 + 3);
  expect(kept(llc(0xaa, { organization: 0xf8, protocol: 0x0800 }), privacy)).toBe(14 + 8);
  expect(kept(llc(0xaa, { organization: 0, protocol: 0x0800 }), privacy)).toBe(14 + 8 + 40);
  expect(kept(llc(0x42, null), privacy)).toBe(14 + 3 + 90);
  expect(kept(llc(0xaa, { organization: 0x0c, protocol: 0x2000 }), privacy)).toBe(14 + 8 + 90);
  for (const protocol of [50, 108]) {
    expect(kept(ethernet(ETHER_TYPE.ipv4, encodeIpv4({ protocol, ...ends("10.0.0.1", "10.0.0.2"), payload: new Uint8Array(300) })), privacy)).toBe(34);
  }
});

test("of two wishes what either leaves out is left out", () => {
  expect(narrower({ headersOnly: true, headersOnlyNetworks: ["10.0.0.0/8"] }, { headersOnly: false, headersOnlyNetworks: ["10.0.0.0/8", "192.0.2.0/24"] }))
    .toEqual({ headersOnly: true, headersOnlyNetworks: ["10.0.0.0/8", "192.0.2.0/24"] });
});

test("no byte of a payload is kept of any damaged frame but where it can be read, and never more than there is", () => {
  const privacy = createPrivacyCut({ ...KEEP_ALL, headersOnly: true });
  for (const bytes of seededMutations(tcp("10.0.0.1", "10.0.0.2"), 20_000, 3)) {
    const length = privacy.keptLength(viewOf(bytes));
    const decoded = decodeFrame(bytes);
    expect(length).toBeLessThanOrEqual(bytes.length);
    expect(length).toBeLessThanOrEqual(decoded.ok ? decoded.value.payloadOffset + 28 : 14);
  }
});

test("the network's prefix decides for every address", () => {
  const privacy = createPrivacyCut({ ...KEEP_ALL, headersOnlyNetworks: ["10.32.0.0/11"] });
  fc.assert(fc.property(fc.nat(255), fc.nat(255), (second, last) => {
    const frame = viewOf(tcp(`10.${second}.0.${last}`, "172.16.0.1"));
    expect(privacy.keptLength(frame)).toBe(second >= 32 && second < 64 ? 54 : 554);
  }));
});
