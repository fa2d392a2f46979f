/** Frames as hosts send them, each field at will. For tests only. */
import {
  ARP_OPERATION,
  BROADCAST_MAC,
  DHCP_MESSAGE_TYPE,
  DHCP_OP,
  DHCP_OPTION,
  encodeArp,
  encodeDhcp,
  encodeEthernet,
  encodeIcmpv6,
  encodeIpv4,
  encodeIpv6,
  encodeTcp,
  encodeUdp,
  ETHER_TYPE,
  formatMac,
  type Icmpv6Message,
  IP_PROTOCOL,
  multicastMac,
  NDP_HOP_LIMIT,
  parseIp,
  parseMac,
  TCP_FLAG,
} from "@lanthorn/packets";

/** The probe's own MAC. */
export const OWN = "02:00:00:00:00:01";
/** MAC of the host that is observed. */
export const HOST = "00:11:22:33:44:55";
/** MAC of the link's router. */
export const ROUTER = "00:aa:bb:cc:dd:ee";
/** The broadcast MAC. */
export const EVERYONE = formatMac(BROADCAST_MAC);

/** Six bytes of the text, which is trusted to be a MAC. */
export const mac = (text: string) => parseMac(text) as Uint8Array;
/** Four or sixteen bytes of the text, which is trusted to be an address. */
export const ip = (text: string) => parseIp(text) as Uint8Array;

interface Ends {
  readonly from?: string;
  readonly to?: string;
}

/** ARP from a host, to everyone unless `to` says whom; `sha` where the packet names another MAC than the frame. */
export function arpFrame(
  spa: string,
  tpa: string,
  { from = HOST, to = EVERYONE, op = "request", sha = from }: Ends & { readonly op?: "request" | "reply"; readonly sha?: string } = {},
): Uint8Array {
  const payload = encodeArp({
    operation: ARP_OPERATION[op],
    senderHardwareAddress: mac(sha),
    senderProtocolAddress: ip(spa),
    targetHardwareAddress: new Uint8Array(6),
    targetProtocolAddress: ip(tpa),
  });
  return encodeEthernet({ destination: mac(to), source: mac(from), etherType: ETHER_TYPE.arp, payload });
}

/** A datagram of either family. */
export function udpFrame(
  source: string,
  destination: string,
  ports: readonly [number, number],
  payload: Uint8Array,
  { from = HOST, to = EVERYONE }: Ends = {},
): Uint8Array {
  const ends = { source: ip(source), destination: ip(destination) };
  const datagram = encodeUdp({ sourcePort: ports[0], destinationPort: ports[1], payload }, ends);
  const packet =
    ends.source.length === 4
      ? encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram })
      : encodeIpv6({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram });
  return encodeEthernet({
    destination: mac(to),
    source: mac(from),
    etherType: ends.source.length === 4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6,
    payload: packet,
  });
}

/** Options of a segment, in the order in which they are sent. */
export type TcpOptions = Parameters<typeof encodeTcp>[0]["options"] & object;

/** The beginning of a TCP connection to us, or its answer. */
export function synFrame(
  source: string, options: TcpOptions, { isAnswer = false, hopLimit = 64 }: {
    readonly isAnswer?: boolean; readonly hopLimit?: number;
  } = {},
): Uint8Array {
  const ends = { source: ip(source), destination: ip("192.168.1.2") };
  const segment = encodeTcp({
    sourcePort: 50_000, destinationPort: 22, sequenceNumber: 1, acknowledgmentNumber: 0,
    flags: TCP_FLAG.syn | (isAnswer ? TCP_FLAG.ack : 0), window: 64_240, options,
  }, ends);
  const payload = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.tcp, timeToLive: hopLimit, payload: segment });
  return encodeEthernet({ destination: mac(OWN), source: mac(HOST), etherType: ETHER_TYPE.ipv4, payload });
}

/** An ICMPv6 message, to its group's MAC unless `to` says whom. */
export function ndpFrame(
  message: Icmpv6Message,
  source: string,
  destination: string,
  { from = HOST, to, hopLimit = NDP_HOP_LIMIT }: Ends & { readonly hopLimit?: number } = {},
): Uint8Array {
  const ends = { source: ip(source), destination: ip(destination) };
  const payload = encodeIpv6({ ...ends, protocol: IP_PROTOCOL.icmpv6, hopLimit, payload: encodeIcmpv6(message, ends) });
  return encodeEthernet({
    destination: to ? mac(to) : multicastMac(ends.destination),
    source: mac(from),
    etherType: ETHER_TYPE.ipv6,
    payload,
  });
}

/** A DHCP message of HOST, or of a server to it. */
export function dhcpFrame(
  type: number,
  options: ReadonlyMap<number, Uint8Array> = new Map(),
  fields: { readonly yiaddr?: string; readonly ciaddr?: string; readonly giaddr?: string } = {},
): Uint8Array {
  const isReply = type === DHCP_MESSAGE_TYPE.ack || type === DHCP_MESSAGE_TYPE.offer;
  const message = encodeDhcp({
    op: isReply ? DHCP_OP.bootReply : DHCP_OP.bootRequest,
    xid: 7,
    chaddr: mac(HOST),
    ...Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, ip(text)])),
    options: new Map([[DHCP_OPTION.dhcpMessageType, Uint8Array.of(type)], ...options]),
  });
  return isReply
    ? udpFrame("192.168.1.1", "255.255.255.255", [67, 68], message, { from: ROUTER })
    : udpFrame("0.0.0.0", "255.255.255.255", [68, 67], message);
}
