import {
  type AddressPrefix, ARP_OPERATION, BROADCAST_MAC, decodeDhcp, DHCP_OP, DHCPV6_SERVERS_GROUP, encodeArp, encodeDhcp, encodeDhcpDiscover,
  encodeDhcpv6, encodeEthernet, encodeIpv4, encodeIpv6, encodeUdp, ETHER_TYPE, IP_PROTOCOL, multicastMac, parseIp, parseMac,
} from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { createLink, type Link } from "../capture/link.ts";
import { createExclusions, type Exclusions, parsePrefixes } from "./exclusions.ts";
import { DISCOVERY_FRAMES, type EgressKind, GUARD_FRAMES, mayLeave as frameMayLeave } from "./frames.ts";
import { encodeNameQuestions } from "./name-questions.ts";
import { encodeAllNodesEchoes, encodeAddressRequest, encodeListenerQueries, encodeMdnsQuery, encodeRouterSolicitation } from "./request-frames.ts";

const ip = (text: string) => parseIp(text) as Uint8Array;
const link = createLink({
  mac: "02:00:00:00:00:01",
  up: true,
  addresses: [
    { ip: "192.168.1.2", prefixLength: 24 },
    { ip: "fe80::1", prefixLength: 64 },
  ],
}) as Link;
const excluding = (...texts: readonly string[]) =>
  createExclusions((parsePrefixes(texts) as { readonly prefixes: readonly AddressPrefix[] }).prefixes);
const mayLeave = (frame: Uint8Array, exclusions: Exclusions) => frameMayLeave(frame, DISCOVERY_FRAMES, exclusions);
const ask = (address: string, mac: string | null = null) => encodeAddressRequest(link, ip(address), mac === null ? null : parseMac(mac)) as Uint8Array;

describe("the last look at a frame", () => {
  test("stops questions for excluded addresses of both families, sent to everyone or to one", () => {
    const exclusions = excluding("192.168.1.20", "192.168.1.128/25", "fe80::20/128");
    for (const address of ["192.168.1.20", "192.168.1.128", "192.168.1.255", "fe80::20"]) {
      expect(mayLeave(ask(address), exclusions)).toBe(false);
      expect(mayLeave(ask(address, "00:11:22:33:44:55"), exclusions)).toBe(false);
    }
    for (const address of ["192.168.1.21", "192.168.1.127", "fe80::21"]) expect(mayLeave(ask(address), exclusions)).toBe(true);
  });

  test("stops what goes to all IPv6 nodes while one of them is excluded", () => {
    for (const everyone of [...encodeAllNodesEchoes(link, 1), ...encodeListenerQueries(link)]) {
      expect(mayLeave(everyone, excluding("192.168.1.20"))).toBe(true);
      expect(mayLeave(everyone, excluding("fe80::20"))).toBe(false);
    }
    expect(encodeListenerQueries(link)).toHaveLength(1);
  });

  test("lets questions for names out, but not for the name of an excluded address", () => {
    const question = encodeMdnsQuery(link, ip("192.168.1.20")) as Uint8Array;
    expect(mayLeave(question, excluding("192.168.1.21"))).toBe(true);
    expect(mayLeave(question, excluding("192.168.1.20"))).toBe(false);
    expect(mayLeave(question.subarray(0, 50), excluding())).toBe(false);
  });

  test("stops what discovery does not make", () => {
    const payload = encodeIpv4({
      source: ip("192.168.1.2"),
      destination: ip("192.168.1.9"),
      protocol: IP_PROTOCOL.udp,
      payload: new Uint8Array(8),
    });
    const frame = encodeEthernet({ destination: BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.ipv4, payload });
    expect(mayLeave(frame, excluding())).toBe(false);
    expect(mayLeave(ask("192.168.1.9").subarray(0, 20), excluding())).toBe(false);
  });
});

describe("a frame that is allowed by its name", () => {
  const isKind = (frame: Uint8Array, kind: EgressKind) => frameMayLeave(frame, [kind], excluding());
  const KINDS: readonly EgressKind[] = [...new Set([...DISCOVERY_FRAMES, ...GUARD_FRAMES])];
  const [llmnr, netbios, mdns] = encodeNameQuestions(link, { id: 7, label: "bcdfghjklmnp" }) as [Uint8Array, Uint8Array, Uint8Array];
  const arp = (sender: string, operation: number) => encodeEthernet({
    destination: BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.arp,
    payload: encodeArp({
      operation, senderHardwareAddress: link.mac, senderProtocolAddress: ip(sender), targetHardwareAddress: new Uint8Array(6),
      targetProtocolAddress: ip("192.168.1.9"),
    }),
  });
  const dhcp = (message: Uint8Array) => {
    const ends = { source: ip("0.0.0.0"), destination: ip("255.255.255.255") };
    const datagram = encodeUdp({ sourcePort: 68, destinationPort: 67, payload: message }, ends);
    const payload = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram });
    return encodeEthernet({ destination: BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.ipv4, payload });
  };
  const dhcpv6 = (type: number, options: readonly { readonly code: number; readonly data: Uint8Array }[] = []) => {
    const ends = { source: ip("fe80::1"), destination: DHCPV6_SERVERS_GROUP };
    const message = encodeDhcpv6({ kind: "exchange", type, transactionId: 7, options });
    const datagram = encodeUdp({ sourcePort: 546, destinationPort: 547, payload: message }, ends);
    const payload = encodeIpv6({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram });
    return encodeEthernet({ destination: multicastMac(DHCPV6_SERVERS_GROUP), source: link.mac, etherType: ETHER_TYPE.ipv6, payload });
  };
  const rapidCommit = [{ code: 14, data: new Uint8Array(0) }];
  const discover = encodeDhcpDiscover({ xid: 7, chaddr: link.mac });
  const withType = (type: number, op: number = DHCP_OP.bootRequest) => {
    const message = decodeDhcp(discover);
    if (!message.ok) throw new Error("the message cannot be read");
    return encodeDhcp({ ...message.value, op, options: new Map([...message.value.options, [53, Uint8Array.of(type)]]) });
  };

  test.each([
    ["arp-request", arp("192.168.1.2", ARP_OPERATION.request)],
    ["arp-probe", arp("0.0.0.0", ARP_OPERATION.request)],
    ["neighbor-solicitation", ask("fe80::9")],
    ["ipv6-all-nodes", encodeAllNodesEchoes(link, 1)[0] as Uint8Array],
    ["mdns-query", encodeMdnsQuery(link, ip("192.168.1.9")) as Uint8Array],
    ["dhcp-discover", dhcp(discover)],
    ["dhcp-inform", dhcp(withType(8))],
    ["dhcpv6-solicit", dhcpv6(1)],
    ["dhcpv6-information-request", dhcpv6(11)],
    ["router-solicitation", encodeRouterSolicitation(link) as Uint8Array],
    ["llmnr-question", llmnr],
    ["netbios-question", netbios],
    ["mdns-question", mdns],
  ] as const)("leaves as %s and as nothing else", (name, frame) => {
    expect(KINDS.filter((kind) => isKind(frame, kind))).toEqual([name]);
  });

  test("leaves as nothing where it would bind an address, answer, or be answered for", () => {
    const frames = [arp("192.168.1.2", ARP_OPERATION.reply), dhcp(withType(3)), dhcp(withType(1, DHCP_OP.bootReply)), dhcpv6(3), dhcpv6(7), dhcpv6(1, rapidCommit)];
    expect(frames.flatMap((frame) => KINDS.filter((kind) => isKind(frame, kind)))).toEqual([]);
  });

  test("asks for no name that somebody may have", () => {
    const frames = ["printer", "bcdfghjklm0", "bcdfghjkl", "abcdfghjklmn"].flatMap((label) => encodeNameQuestions(link, { id: 7, label }));
    expect(frames).toHaveLength(12);
    expect(frames.flatMap((frame) => KINDS.filter((kind) => isKind(frame, kind)))).toEqual([]);
    const unaddressed = createLink({ mac: "02:00:00:00:00:01", up: true, addresses: [{ ip: "192.168.1.2", prefixLength: 31 }] }) as Link;
    expect(encodeNameQuestions(unaddressed, { id: 7, label: "bcdfghjklmnp" })).toEqual([]);
  });

  test("does not reach who is excluded", () => {
    expect(frameMayLeave(llmnr, GUARD_FRAMES, excluding("224.0.0.252"))).toBe(false);
    expect(frameMayLeave(netbios, GUARD_FRAMES, excluding("192.168.1.128/25"))).toBe(false);
    expect(frameMayLeave(arp("0.0.0.0", ARP_OPERATION.request), ["arp-probe"], excluding("192.168.1.9"))).toBe(false);
    expect(frameMayLeave(dhcp(discover), ["dhcp-discover"], excluding("0.0.0.0/0"))).toBe(false);
  });
});
