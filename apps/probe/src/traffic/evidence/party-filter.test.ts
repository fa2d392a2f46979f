import { encodeFrameBlock } from "@lanthorn/packet-io";
import { ARP_OPERATION, BROADCAST_MAC, encodeArp, encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp, parseMac } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { Party } from "../messages.ts";
import { createFrameHeaders } from "../ring/frame-headers.ts";
import { udpFrame } from "../testing/frames.ts";
import { packetsInside } from "./inner-frames.ts";
import { createPartyFilter, createPartyTable } from "./party-filter.ts";

const EVE = { mac: "02:00:00:00:00:66", ip: "10.0.0.66" };
const BOB = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const ANN = { mac: "02:00:00:00:00:02", ip: "10.0.0.2" };
const whom = (macs: readonly string[], ips: readonly string[]): Party => ({ macs: [...macs], ips: [...ips] });

function arp(sender: typeof EVE, targetIp: string): Uint8Array {
  const mac = parseMac(sender.mac) as Uint8Array;
  const payload = encodeArp({
    operation: ARP_OPERATION.request, senderHardwareAddress: mac, senderProtocolAddress: parseIp(sender.ip) as Uint8Array,
    targetHardwareAddress: new Uint8Array(6), targetProtocolAddress: parseIp(targetIp) as Uint8Array,
  });
  return encodeEthernet({ destination: BROADCAST_MAC, source: mac, etherType: ETHER_TYPE.arp, payload });
}

function tagged(frame: Uint8Array, tags: readonly number[]): Uint8Array {
  const words = tags.flatMap((type) => [type >> 8, type & 0xff, 0, 7]);
  return Uint8Array.from([...frame.subarray(0, 12), ...words, ...frame.subarray(12)]);
}

function passes(frame: Uint8Array, device: Party, peer: Party | null = null): boolean {
  const filter = createPartyFilter(device, peer);
  let passed = false;
  createFrameHeaders().visit(encodeFrameBlock([{ bytes: frame, seconds: 1, nanoseconds: 0 }]), 0, (view) => {
    passed = filter(view) || packetsInside(view).some(filter);
    return true;
  });
  return passed;
}

test("a device's frames are those from it and to it, by MAC or by address, behind VLAN tags too", () => {
  const frames = [udpFrame(EVE, BOB), udpFrame(BOB, EVE), arp(EVE, BOB.ip), tagged(udpFrame(EVE, BOB), [0x8100]), tagged(udpFrame(EVE, BOB), [0x88a8, 0x8100])];
  for (const frame of frames) {
    expect([passes(frame, whom([EVE.mac], [])), passes(frame, whom([], [EVE.ip])), passes(frame, whom([ANN.mac], [ANN.ip]))]).toEqual([true, true, false]);
  }
  expect(passes(arp(BOB, EVE.ip), whom([], [EVE.ip]))).toBe(true);
  expect(passes(arp(BOB, EVE.ip), whom([EVE.mac], []))).toBe(false);
});

test("a pair's frames are those between the two, in both directions", () => {
  const [device, peer] = [whom([], [EVE.ip]), whom([], [BOB.ip])];
  expect([udpFrame(EVE, BOB), udpFrame(BOB, EVE), arp(EVE, BOB.ip)].map((frame) => passes(frame, device, peer))).toEqual([true, true, true]);
  expect([udpFrame(EVE, ANN), udpFrame(ANN, BOB)].map((frame) => passes(frame, device, peer))).toEqual([false, false]);
  expect(passes(udpFrame(EVE, ANN), device, whom([], []))).toBe(true);
});

test("IPv6 is compared in all its bits", () => {
  const ip = Buffer.alloc(60);
  ip[0] = 0x60;
  ip[6] = 17;
  ip.set(parseIp("2001:db8::1") as Uint8Array, 8);
  ip.set(parseIp("2001:db8::2") as Uint8Array, 24);
  const frame = encodeEthernet({ destination: parseMac(BOB.mac) as Uint8Array, source: parseMac(ANN.mac) as Uint8Array, etherType: ETHER_TYPE.ipv6, payload: ip });
  expect(["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db9::1"].map((text) => passes(frame, whom([], [text])))).toEqual([true, true, false, false]);
});

/** Eve to Bob, as routers that carry her packets send them to each other. */
function tunneled(kind: "vxlan" | "gre" | "mpls" | "ipip"): Uint8Array {
  const inner = udpFrame(EVE, BOB);
  const [source, destination] = [parseIp("192.0.2.1") as Uint8Array, parseIp("192.0.2.2") as Uint8Array];
  const macs = { source: parseMac(ANN.mac) as Uint8Array, destination: parseMac("02:00:00:00:00:03") as Uint8Array };
  const ip = (protocol: number, payload: Uint8Array) => encodeEthernet({ ...macs, etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ source, destination, protocol, payload }) });
  switch (kind) {
    case "vxlan": {
      const payload = Buffer.concat([Buffer.of(8, 0, 0, 0, 0, 0, 7, 0), inner]);
      return ip(IP_PROTOCOL.udp, encodeUdp({ sourcePort: 50_000, destinationPort: 4789, payload }, { source, destination }));
    }
    case "gre":
      return ip(IP_PROTOCOL.gre, Buffer.concat([Buffer.of(0, 0, 8, 0), inner.subarray(14)]));
    case "mpls":
      return encodeEthernet({ ...macs, etherType: ETHER_TYPE.mpls, payload: Buffer.concat([Buffer.of(0, 0x01, 0x91, 64), inner.subarray(14)]) });
    case "ipip":
      return ip(IP_PROTOCOL.ipv4, inner.subarray(14));
    default:
      return kind satisfies never;
  }
}

test.each(["vxlan", "gre", "mpls", "ipip"] as const)("who speaks inside of %s is found, behind a VLAN tag too", (kind) => {
  for (const frame of [tunneled(kind), tagged(tunneled(kind), [0x8100])]) {
    const [eve, bob, ann] = [whom([], [EVE.ip]), whom([], [BOB.ip]), whom([], [ANN.ip])];
    expect([passes(frame, eve), passes(frame, bob), passes(frame, ann), passes(frame, eve, bob), passes(frame, bob, eve), passes(frame, eve, ann)]).toEqual([true, true, false, true, true, false]);
    expect(passes(frame, whom([], ["192.0.2.1"]), whom([], ["192.0.2.2"]))).toBe(kind !== "mpls");
    const table = createPartyTable();
    table.add(eve);
    createFrameHeaders().visit(encodeFrameBlock([{ bytes: frame, seconds: 1, nanoseconds: 0 }]), 0, (view) => {
      expect(packetsInside(view).some(table.mayHave)).toBe(true);
      return true;
    });
  }
  for (let length = 0; length < tunneled(kind).length; length += 1) passes(tunneled(kind).subarray(0, length), whom([EVE.mac], [EVE.ip]));
});

test("nobody's frames are none, and frames of any bytes and length are looked at without a fault", () => {
  expect(passes(udpFrame(EVE, BOB), whom([], []))).toBe(false);
  expect(passes(udpFrame(EVE, BOB), whom(["no mac"], ["no address"]))).toBe(false);
  const random = seededRandom(11);
  const frame = tagged(udpFrame(EVE, BOB), [0x8100]);
  for (let length = 0; length <= frame.length; length += 1) passes(frame.subarray(0, length), whom([EVE.mac], [EVE.ip]), whom([], [BOB.ip]));
  for (let round = 0; round < 2000; round += 1) {
    const bytes = Uint8Array.from({ length: random(80) }, () => random(256));
    if (bytes.length > 13 && round % 2 === 0) bytes.set([[0x08, 0x00], [0x86, 0xdd], [0x08, 0x06], [0x81, 0x00]][random(4)] as number[], 12);
    expect(passes(bytes, whom([EVE.mac], [EVE.ip, "2001:db8::1"]))).toBe(false);
  }
});
