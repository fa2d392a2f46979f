/** Frames of every protocol as our encoders write them. For tests only. */
import { multicastMac, solicitedNodeAddress } from "../address-facts.ts";
import { BROADCAST_MAC, parseIp, parseMac } from "../addresses.ts";
import { ARP_OPERATION, encodeArp } from "../link/arp.ts";
import { DHCP_OP, encodeDhcp } from "../dhcp/dhcp.ts";
import { encodeDhcpDiscover } from "../dhcp/dhcp-discover.ts";
import { encodeDns } from "../dns/dns.ts";
import { DNS_TYPE } from "../dns/dns-records.ts";
import { reverseName } from "../dns/dns-reverse.ts";
import { encodeEthernet } from "../link/ethernet.ts";
import { encodeIcmpv4 } from "../ip/icmpv4.ts";
import { encodeIcmpv6, type Icmpv6Message } from "../ip/icmpv6.ts";
import { encodeIpv4, type Ipv4Fields } from "../ip/ipv4.ts";
import { encodeIpv6, type Ipv6Fields } from "../ip/ipv6.ts";
import { ETHER_TYPE, IP_PROTOCOL } from "../numbers.ts";
import { encodeTcp, TCP_FLAG, type TcpFields } from "../transport/tcp.ts";
import { encodeUtf8 } from "../text.ts";
import { encodeUdp } from "../transport/udp.ts";
import { fromHex, joinBytes } from "./bytes.ts";

const ip = (text: string) => parseIp(text) ?? new Uint8Array(0);
const OURS = parseMac("02:00:00:00:00:0a") ?? new Uint8Array(0);
const THEIRS = parseMac("02:00:00:00:00:0b") ?? new Uint8Array(0);
const V4 = { source: ip("192.0.2.10"), destination: ip("192.0.2.11") };
const V6 = { source: ip("fe80::a"), destination: ip("2001:db8::b") };

interface EthernetOptions {
  readonly destination?: Uint8Array;
  /** Outermost first. */
  readonly vlanIds?: readonly number[];
}

function ethernet(etherType: number, payload: Uint8Array, options: EthernetOptions = {}): Uint8Array {
  const vlanTags = (options.vlanIds ?? []).map((vlanId, index, all) => {
    const protocol = index < all.length - 1 ? ETHER_TYPE.providerVlan : ETHER_TYPE.vlan;
    return { protocol, priority: index + 3, isDropEligible: false, vlanId };
  });
  return encodeEthernet({ destination: options.destination ?? THEIRS, source: OURS, etherType, payload, vlanTags });
}

function ipv4(fields: Pick<Ipv4Fields, "protocol" | "payload"> & Partial<Ipv4Fields>): Uint8Array {
  return ethernet(ETHER_TYPE.ipv4, encodeIpv4({ ...V4, ...fields }));
}

function ipv6(fields: Pick<Ipv6Fields, "protocol" | "payload"> & Partial<Ipv6Fields>): Uint8Array {
  return ethernet(ETHER_TYPE.ipv6, encodeIpv6({ ...V6, ...fields }));
}

function udp(sourcePort: number, destinationPort: number, payload: Uint8Array): Uint8Array {
  return ipv4({ protocol: IP_PROTOCOL.udp, payload: encodeUdp({ sourcePort, destinationPort, payload }, V4) });
}

function tcp(fields: Partial<TcpFields>): Uint8Array {
  const segment = { sourcePort: 40_000, destinationPort: 443, flags: TCP_FLAG.ack, ...fields };
  return ipv4({ protocol: IP_PROTOCOL.tcp, payload: encodeTcp(segment, V4) });
}

function icmpv6(message: Icmpv6Message, destination: Uint8Array = V6.destination): Uint8Array {
  const ends = { source: V6.source, destination };
  return ipv6({ ...ends, protocol: IP_PROTOCOL.icmpv6, payload: encodeIcmpv6(message, ends), hopLimit: 255 });
}

const ECHO = { kind: "echo-request", identifier: 7, sequenceNumber: 1, data: encodeUtf8("lanthorn") } as const;
const DISCARDED = { sourcePort: 50_000, destinationPort: 9, payload: encodeUtf8("lanthorn") };
const NO_MAC = new Uint8Array(6);

/** Link, network and transport layers. */
function plainFrames(): readonly Uint8Array[] {
  const ask = {
    operation: ARP_OPERATION.request,
    senderHardwareAddress: OURS,
    senderProtocolAddress: V4.source,
    targetHardwareAddress: NO_MAC,
    targetProtocolAddress: V4.destination,
  };
  const answer = { ...ask, operation: ARP_OPERATION.reply, senderHardwareAddress: THEIRS, targetHardwareAddress: OURS };
  const ping = encodeIpv4({ ...V4, protocol: IP_PROTOCOL.icmpv4, payload: encodeIcmpv4(ECHO) });
  return [
    ethernet(ETHER_TYPE.arp, encodeArp(ask), { destination: BROADCAST_MAC }),
    ethernet(ETHER_TYPE.arp, encodeArp(answer)),
    ethernet(ETHER_TYPE.arp, encodeArp(ask), { vlanIds: [5] }),
    ethernet(ETHER_TYPE.ipv4, ping, { vlanIds: [100, 4094] }),
    ipv4({ protocol: IP_PROTOCOL.icmpv4, payload: encodeIcmpv4({ kind: "error", type: 3, code: 1, parameter: 0, original: ping }) }),
    ipv4({ protocol: IP_PROTOCOL.udp, payload: fromHex("9c400009 0100 0000 0102030405060708"), moreFragments: true, identification: 9 }),
    ipv4({ protocol: IP_PROTOCOL.udp, payload: new Uint8Array(24), fragmentOffset: 1480, identification: 9, timeToLive: 3 }),
    ipv4({ protocol: IP_PROTOCOL.icmpv4, payload: encodeIcmpv4(ECHO), options: fromHex("94040000") }),
    ipv4({
      protocol: IP_PROTOCOL.authentication,
      payload: joinBytes(fromHex("11 04 0000 00000101 00000001 000102030405060708090a0b"), encodeUdp(DISCARDED, V4)),
    }),
    ipv6({ protocol: IP_PROTOCOL.udp, payload: encodeUdp(DISCARDED, V6) }),
    ipv6({
      protocol: IP_PROTOCOL.icmpv6,
      payload: encodeIcmpv6(ECHO, V6),
      extensionHeaders: [{ type: IP_PROTOCOL.hopByHop, bytes: fromHex("0000050200000000") }],
    }),
    tcp({
      flags: TCP_FLAG.syn,
      sequenceNumber: 0xfedcba98,
      window: 64_240,
      options: [
        { kind: "maximum-segment-size", bytes: 1460 },
        { kind: "sack-permitted" },
        { kind: "timestamps", value: 0xfeedbeef, echoReply: 0 },
        { kind: "no-operation" },
        { kind: "window-scale", shift: 7 },
      ],
    }),
    tcp({ acknowledgmentNumber: 5, options: [{ kind: "sack", blocks: [{ left: 10, right: 20 }, { left: 30, right: 0xffff_ffff }] }] }),
    tcp({ flags: TCP_FLAG.fin | TCP_FLAG.psh | TCP_FLAG.ack | TCP_FLAG.ece, payload: encodeUtf8("bye") }),
    tcp({ flags: 0 }),
  ];
}

function neighborFrames(): readonly Uint8Array[] {
  const solicited = solicitedNodeAddress(V6.destination);
  const source = { kind: "source-link-layer-address", address: OURS } as const;
  const empty = { ...V6, destination: ip("ff02::1"), protocol: IP_PROTOCOL.noNextHeader, payload: new Uint8Array(0) };
  const prefix = {
    kind: "prefix-information", prefixLength: 64, isOnLink: true, isAutonomous: false,
    validLifetimeSeconds: 0xffff_ffff, preferredLifetimeSeconds: 14_400, prefix: ip("2001:db8::"),
  } as const;
  const advertisement = {
    kind: "router-advertisement", hopLimit: 64, isManaged: true, hasOtherConfiguration: false, preference: "high",
    routerLifetimeSeconds: 1800, reachableTimeMs: 30_000, retransmissionTimerMs: 1000,
    options: [
      source,
      { kind: "mtu", mtu: 1492 },
      prefix,
      { kind: "recursive-dns-servers", lifetimeSeconds: 600, servers: [ip("2001:db8::53"), ip("2001:db8::54")] },
    ],
  } as const;
  return [
    icmpv6({ kind: "router-solicitation", options: [source] }, ip("ff02::2")),
    icmpv6(advertisement, ip("ff02::1")),
    icmpv6({ kind: "neighbor-solicitation", target: V6.destination, options: [source] }, solicited),
    icmpv6({
      kind: "neighbor-advertisement", isRouter: true, isSolicited: false, isOverride: true, target: V6.source,
      options: [{ kind: "target-link-layer-address", address: OURS }],
    }),
    icmpv6({ kind: "redirect", target: V6.source, destination: V6.destination, options: [] }),
    ethernet(ETHER_TYPE.ipv6, encodeIpv6(empty), { destination: multicastMac(empty.destination) }),
  ];
}

function dhcpFrames(): readonly Uint8Array[] {
  const discover = encodeDhcpDiscover({
    xid: 0xdeadbeef, chaddr: OURS, hostName: "lab1", vendorClass: "lanthorn",
    clientIdentifier: joinBytes(Uint8Array.of(1), OURS), parameterList: [1, 121, 3, 6],
  });
  const offer = encodeDhcp({
    op: DHCP_OP.bootReply, xid: 0xdeadbeef, chaddr: OURS, secs: 3, hops: 1,
    yiaddr: ip("192.0.2.50"), siaddr: ip("192.0.2.1"), giaddr: ip("192.0.2.2"),
    sname: encodeUtf8("boot"), file: encodeUtf8("pxelinux.0"),
    options: new Map([
      [53, Uint8Array.of(2)],
      [54, ip("192.0.2.1")],
      [51, fromHex("00000e10")],
      [3, joinBytes(ip("192.0.2.1"), ip("192.0.2.2"))],
      [6, ip("192.0.2.1")],
      [12, encodeUtf8("lab1")],
      [15, encodeUtf8("lan.test")],
      [82, fromHex("0104 65746830 0202 beef")],
    ]),
  });
  const request = encodeDhcp({
    op: DHCP_OP.bootRequest, xid: 1, chaddr: OURS,
    options: new Map([
      [53, Uint8Array.of(3)],
      [50, ip("192.0.2.50")],
      [61, fromHex("ff 00000001 0003 0001 02000000000a")],
      [81, joinBytes(fromHex("01 00 00"), encodeUtf8("lab1.lan.test"))],
    ]),
  });
  return [udp(68, 67, discover), udp(67, 68, offer), udp(68, 67, request)];
}

function dnsFrames(): readonly Uint8Array[] {
  const internet = { ttlSeconds: 3600 };
  const host = { ...internet, name: "nas.lan.test" };
  const answers = [
    { ...host, type: DNS_TYPE.a, data: { kind: "address", address: ip("192.0.2.9") } },
    { ...host, type: DNS_TYPE.aaaa, data: { kind: "address", address: ip("2001:db8::9") } },
    { ...host, type: DNS_TYPE.txt, data: { kind: "txt", strings: [encodeUtf8("v=spf1 -all"), encodeUtf8("x=1")] } },
    { ...internet, name: "www.lan.test", type: DNS_TYPE.cname, data: { kind: "name", name: "nas.lan.test" } },
    { ...internet, name: "lan.test", type: DNS_TYPE.ns, data: { kind: "name", name: "ns.lan.test" } },
    { ...internet, name: "lan.test", type: DNS_TYPE.mx, data: { kind: "mx", preference: 10, exchange: "nas.lan.test" } },
    { ...internet, name: reverseName("192.0.2.9"), type: DNS_TYPE.ptr, data: { kind: "name", name: "nas.lan.test" } },
  ] as const;
  const soa = {
    kind: "soa", mname: "ns.lan.test", rname: "root.lan.test", serial: 20_260_101, refresh: 1, retry: 2, expire: 3, minimum: 4,
  } as const;
  const edns = {
    name: ".", type: DNS_TYPE.opt, class: 1232, ttlSeconds: 0x8000,
    data: { kind: "opt", options: [{ code: 10, value: fromHex("0102030405060708") }] },
  } as const;
  const reverse = { name: reverseName("2001:db8::9"), type: DNS_TYPE.ptr };
  const instance = "Office\\032Printer\\.1._ipp._tcp.local";
  const own = { ttlSeconds: 120, isCacheFlush: true };
  const announced = [
    { name: "_ipp._tcp.local", type: DNS_TYPE.ptr, ttlSeconds: 4500, data: { kind: "name", name: instance } },
    { ...own, name: instance, type: DNS_TYPE.srv, data: { kind: "srv", priority: 1, weight: 2, port: 631, target: "printer.local" } },
    { ...own, name: "printer.local", type: DNS_TYPE.nsec, data: { kind: "nsec", nextName: "printer.local", types: [1, 28] } },
  ] as const;
  return [
    udp(53_000, 53, encodeDns({
      id: 0xabcd, isRecursionDesired: true, questions: [{ name: "nas.lan.test", type: DNS_TYPE.any }], additionals: [edns],
    })),
    udp(53, 53_000, encodeDns({
      id: 0xabcd, isResponse: true, isRecursionAvailable: true, questions: [{ name: "nas.lan.test", type: DNS_TYPE.any }], answers,
      authorities: [{ ...internet, name: "lan.test", type: DNS_TYPE.soa, data: soa }], additionals: [edns],
    })),
    udp(53_001, 53, encodeDns({ id: 1, questions: [reverse] })),
    udp(53, 53_001, encodeDns({ id: 1, isResponse: true, responseCode: 3, questions: [reverse] })),
    udp(53_002, 53, encodeDns({ id: 2, questions: [{ name: ".", type: DNS_TYPE.ns }] })),
    udp(5353, 5353, encodeDns({ questions: [{ name: "_ipp._tcp.local", type: DNS_TYPE.ptr, wantsUnicastResponse: true }] })),
    udp(5353, 5353, encodeDns({ isResponse: true, isAuthoritative: true, answers: announced })),
  ];
}

/** Ethernet frames; in none of them does a packet hold another but in the ICMP error. */
export function encodedFrames(): readonly Uint8Array[] {
  return [...plainFrames(), ...neighborFrames(), ...dhcpFrames(), ...dnsFrames()];
}
