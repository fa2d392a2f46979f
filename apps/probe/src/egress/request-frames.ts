import {
  ARP_OPERATION,
  BROADCAST_MAC,
  DNS_TYPE,
  encodeArp,
  encodeDns,
  encodeEthernet,
  encodeIcmpv6,
  encodeIpv4,
  encodeIpv6,
  encodeUdp,
  ETHER_TYPE,
  type Icmpv6Message,
  IP_PROTOCOL,
  MLD_HOP_LIMIT,
  MLD_ROUTER_ALERT,
  multicastMac,
  NDP_HOP_LIMIT,
  parseIpv6,
  reverseName,
  solicitedNodeAddress,
} from "@lanthorn/packets";
import { type Link, ownAddressFor, ownIpv6Sources, ownLinkLocal } from "../capture/link.ts";

const NO_MAC = new Uint8Array(6);
const NO_ADDRESS = new Uint8Array(4);
const UNSPECIFIED = new Uint8Array(16);
const ALL_NODES = parseIpv6("ff02::1") as Uint8Array;
const ALL_ROUTERS = parseIpv6("ff02::2") as Uint8Array;

/**
 * The request for who has an address: of ARP, or a Neighbor Solicitation for IPv6.
 * @param mac The host that should have it, to which alone it is sent; null for everyone.
 * @returns A whole frame, or null where the interface has no address to ask from.
 */
export function encodeAddressRequest(link: Link, target: Uint8Array, mac: Uint8Array | null): Uint8Array | null {
  return target.length === 4 ? arpRequest(link, target, mac) : neighborSolicitation(link, target, mac);
}

function arpRequest(link: Link, target: Uint8Array, mac: Uint8Array | null): Uint8Array {
  const payload = encodeArp({
    operation: ARP_OPERATION.request,
    senderHardwareAddress: link.mac,
    // Without an own address in the target's subnet, as after a move, the request is RFC 5227's probe: it claims nothing, and is answered.
    senderProtocolAddress: ownAddressFor(link, target) ?? NO_ADDRESS,
    targetHardwareAddress: NO_MAC,
    targetProtocolAddress: target,
  });
  return encodeEthernet({ destination: mac ?? BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.arp, payload });
}

function neighborSolicitation(link: Link, target: Uint8Array, mac: Uint8Array | null): Uint8Array | null {
  const source = ownAddressFor(link, target) ?? ownLinkLocal(link);
  const message: Icmpv6Message = {
    kind: "neighbor-solicitation",
    target,
    options: [{ kind: "source-link-layer-address", address: link.mac }],
  };
  return source && icmpv6Frame(link, message, { source, destination: mac ? target : solicitedNodeAddress(target), mac });
}

/**
 * Asks one host whether it has an address, and claims none: the ARP probe, or the Neighbor Solicitation of duplicate address detection,
 * whose answer goes to all nodes.
 * @returns A whole frame.
 * @see RFC 5227 section 2.1.1, RFC 4862 section 5.4.2
 */
export function encodeAddressProbe(link: Link, target: Uint8Array, mac: Uint8Array): Uint8Array {
  if (target.length === 4) {
    const payload = encodeArp({
      operation: ARP_OPERATION.request, senderHardwareAddress: link.mac, senderProtocolAddress: NO_ADDRESS, targetHardwareAddress: NO_MAC,
      targetProtocolAddress: target,
    });
    return encodeEthernet({ destination: mac, source: link.mac, etherType: ETHER_TYPE.arp, payload });
  }
  const message: Icmpv6Message = { kind: "neighbor-solicitation", target, options: [] };
  return icmpv6Frame(link, message, { source: UNSPECIFIED, destination: solicitedNodeAddress(target), mac });
}

/**
 * Echo requests to all IPv6 nodes: many systems answer, and each looks for our MAC first, which shows its own. One
 * from an address of each own prefix, because a host answers from its address in the same prefix.
 * @returns Whole frames; none without an IPv6 address.
 * @see RFC 4443 section 4.2, RFC 6724 section 5
 */
export function encodeAllNodesEchoes(link: Link, sequenceNumber: number): readonly Uint8Array[] {
  const message: Icmpv6Message = {
    kind: "echo-request",
    identifier: 0x4c4e,
    sequenceNumber: sequenceNumber & 0xffff,
    data: new Uint8Array(0),
  };
  return ownIpv6Sources(link).map((source) => icmpv6Frame(link, message, { source, destination: ALL_NODES, mac: null }));
}

/** Answers come within this, one by one; the sweep's own last wait is as long. */
const LISTENER_DELAY_MS = 2000;
/** What routers take on from a query, as it is unless set. @see RFC 3810 section 9 */
const LISTENER_DEFAULTS = { robustness: 2, queryIntervalSeconds: 125 } as const;

/**
 * The query to all IPv6 nodes for the groups that they listen to, as of a querier of version 2 does: one of
 * version 1 would set listeners back to that.
 * @returns A whole frame; none without a link-local address, from which alone it is heard.
 * @see RFC 3810 section 5.1
 */
export function encodeListenerQueries(link: Link): readonly Uint8Array[] {
  const source = ownLinkLocal(link);
  const message: Icmpv6Message = {
    kind: "mld-query", maximumResponseDelayMs: LISTENER_DELAY_MS, group: new Uint8Array(16),
    version2: { suppressesTimers: false, ...LISTENER_DEFAULTS, sources: [] },
  };
  return source === null ? [] : [icmpv6Frame(link, message, { source, destination: ALL_NODES, mac: null })];
}

/** @see RFC 6762 section 3 */
export const MDNS_PORT = 5353;
/** @see RFC 6762 section 3 */
export const MDNS_GROUP = Uint8Array.of(224, 0, 0, 251);

/**
 * The query by Multicast DNS for what the host at an address calls itself. Whoever has the address answers everyone.
 * @returns Null without an IPv4 address of ours to ask from.
 * @see RFC 6762 sections 4 and 5.1
 */
export function encodeMdnsQuery(link: Link, target: Uint8Array): Uint8Array | null {
  const source = link.own.find(({ bytes }) => bytes.length === 4)?.bytes;
  if (!source) return null;
  const question = encodeDns({ id: 0, questions: [{ name: reverseName(target), type: DNS_TYPE.ptr }] });
  const ends = { source, destination: MDNS_GROUP };
  const datagram = encodeUdp({ sourcePort: MDNS_PORT, destinationPort: MDNS_PORT, payload: question }, ends);
  const payload = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, timeToLive: 255, payload: datagram });
  return encodeEthernet({ destination: multicastMac(MDNS_GROUP), source: link.mac, etherType: ETHER_TYPE.ipv4, payload });
}

/**
 * Asks all routers of the link to advertise themselves.
 * @returns Null without a link-local address.
 * @see RFC 4861 section 4.1
 */
export function encodeRouterSolicitation(link: Link): Uint8Array | null {
  const source = ownLinkLocal(link);
  const message: Icmpv6Message = { kind: "router-solicitation", options: [{ kind: "source-link-layer-address", address: link.mac }] };
  return source && icmpv6Frame(link, message, { source, destination: ALL_ROUTERS, mac: null });
}

function icmpv6Frame(
  link: Link,
  message: Icmpv6Message,
  ends: { readonly source: Uint8Array; readonly destination: Uint8Array; readonly mac: Uint8Array | null },
): Uint8Array {
  const isQuery = message.kind === "mld-query";
  const payload = encodeIpv6({
    protocol: IP_PROTOCOL.icmpv6,
    hopLimit: isQuery ? MLD_HOP_LIMIT : NDP_HOP_LIMIT,
    extensionHeaders: isQuery ? [MLD_ROUTER_ALERT] : [],
    source: ends.source,
    destination: ends.destination,
    payload: encodeIcmpv6(message, ends),
  });
  return encodeEthernet({ destination: ends.mac ?? multicastMac(ends.destination), source: link.mac, etherType: ETHER_TYPE.ipv6, payload });
}
