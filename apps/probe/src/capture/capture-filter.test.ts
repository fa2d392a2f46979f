import { encodeEthernet, encodeIpv4, encodeTcp, ETHER_TYPE, IP_PROTOCOL, TCP_FLAG } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { passesFilter } from "../../../../packages/packet-io/src/testing/passes-filter.ts";
import { arpFrame, HOST, ip, mac, ndpFrame, OWN, ROUTER, udpFrame } from "../observe/testing/frames.ts";
import { captureFilter } from "./capture-filter.ts";

const ends = { from: ROUTER, to: HOST };
const datagram = (from: number, to: number, { from: source, to: destination } = ends) =>
  udpFrame("192.168.1.1", "192.168.1.77", [from, to], Uint8Array.of(1, 2, 3), { from: source, to: destination });
const datagram6 = (from: number, to: number) => udpFrame("fe80::1", "fe80::5", [from, to], Uint8Array.of(1, 2, 3), ends);
const inIpv4 = (protocol: number, payload: Uint8Array = new Uint8Array(40), { from, to } = ends) => encodeEthernet({
  destination: mac(to), source: mac(from), etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ source: ip("192.168.1.1"), destination: ip("192.168.1.77"), protocol, payload }),
});
const link = (destination: string, { source = ROUTER, etherType = null }: { readonly source?: string; readonly etherType?: number | null } = {}) =>
  encodeEthernet({ destination: mac(destination), source: mac(source), etherType, payload: new Uint8Array(50) });
const syn = (to: string, options: Uint8Array) => inIpv4(IP_PROTOCOL.tcp, encodeTcp(
  { sourcePort: 50_000, destinationPort: 22, flags: TCP_FLAG.syn, options: [{ kind: "unknown", number: 254, data: options }] }, { source: ip("192.168.1.1"), destination: ip("192.168.1.77") },
), { from: ROUTER, to });
const advert = ndpFrame(
  { kind: "neighbor-advertisement", target: ip("fe80::1"), isRouter: true, isSolicited: true, isOverride: true, options: [] }, "fe80::1", "fe80::5", ends,
);

describe("the kernel lets through, though it is for another host alone,", () => {
  test.each([
    ["an ARP reply", arpFrame("192.168.1.1", "192.168.1.77", { ...ends, op: "reply" })],
    ["a neighbor advertisement", advert],
    ["a DHCP server's answer", datagram(67, 68)],
    ["a relay's question to a DHCP server", datagram(67, 67)],
    ["a renewal", datagram(68, 67)],
    ["a DHCPv6 server's answer", datagram6(547, 546)],
    ["what a DHCPv6 relay passes on", datagram6(547, 547)],
    ["an LLMNR answer", datagram(5355, 50_000)],
    ["a NetBIOS name answer", datagram(137, 137)],
    ["a Multicast DNS answer by unicast", datagram(5353, 50_000)],
    ["IPv6 in IPv4", inIpv4(41)],
    ["Teredo", datagram(50_000, 3544)],
    ["a Teredo server's answer", datagram(3544, 50_000)],
    ["EDP", link("00:e0:2b:00:00:00")],
  ])("%s", (_, frame) => {
    expect(passesFilter(captureFilter(OWN), [frame])).toEqual([true]);
  });
});

test("what goes to all or to a group is let through, with VLAN tags as well", () => {
  const tagged = (tags: number) => {
    const frame = link("01:00:0c:cc:cc:cc");
    const tag = Uint8Array.of(0x81, 0, 0, 20);
    return Uint8Array.from([...frame.slice(0, 12), ...Array.from({ length: tags }, () => [...tag]).flat(), ...frame.slice(12)]);
  };
  const frames = [
    arpFrame("192.168.1.1", "192.168.1.77", { from: ROUTER }), datagram(67, 68, { from: ROUTER, to: "ff:ff:ff:ff:ff:ff" }), link("01:80:c2:00:00:00"),
    link("01:80:c2:00:00:0e", { etherType: 0x88cc }), tagged(0), tagged(1), tagged(2),
  ];
  expect(passesFilter(captureFilter(OWN), frames)).toEqual(frames.map(() => true));
});

test("of handshakes only those with this machine are, and only with more options than a scan's answer has", () => {
  expect(passesFilter(captureFilter(OWN), [syn(OWN, new Uint8Array(10)), syn(OWN, new Uint8Array(2)), syn(HOST, new Uint8Array(10))])).toEqual([true, false, false]);
});

test("other traffic is left out, and whatever this machine sends", () => {
  const own = { from: OWN, to: ROUTER };
  const frames = [
    datagram(40_000, 53), datagram(53, 40_000), inIpv4(IP_PROTOCOL.tcp), inIpv4(47), datagram(68, 67, own), datagram(5353, 5353, own),
    arpFrame("192.168.1.2", "192.168.1.1", { from: OWN }), link("01:80:c2:00:00:0e", { source: OWN, etherType: 0x88cc }),
  ];
  expect(passesFilter(captureFilter(OWN), frames)).toEqual(frames.map(() => false));
});

test("claims under this machine's own MAC are let through: an attacker may wear it", () => {
  const own = { from: OWN, to: HOST };
  const frames = [
    arpFrame("192.168.1.1", "192.168.1.77", { ...own, op: "reply" }), datagram(67, 68, own),
    udpFrame("fe80::1", "fe80::5", [547, 546], Uint8Array.of(1, 2, 3), own),
    ndpFrame({ kind: "neighbor-advertisement", target: ip("fe80::1"), isRouter: true, isSolicited: true, isOverride: true, options: [] }, "fe80::1", "fe80::5", own),
    ndpFrame({
      kind: "router-advertisement", hopLimit: 64, isManaged: false, hasOtherConfiguration: false, preference: "medium", routerLifetimeSeconds: 1800, reachableTimeMs: 0,
      retransmissionTimerMs: 0, options: [],
    }, "fe80::1", "fe80::5", own),
  ];
  expect(passesFilter(captureFilter(OWN), frames)).toEqual(frames.map(() => true));
});
