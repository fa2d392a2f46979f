import {
  encodeArp, encodeEthernet, encodeIcmpv6, encodeIpv4, encodeIpv6, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp, parseMac,
  TCP_FLAG,
} from "@lanthorn/packets";

const ip = (text: string) => parseIp(text) as Uint8Array;
/** MAC of the sender unless a frame says otherwise. */
export const US = parseMac("02:00:00:00:00:01") as Uint8Array;
/** MAC of the receiver unless a frame says otherwise. */
export const THEM = parseMac("02:00:00:00:00:02") as Uint8Array;

/** Frames that a scan would send, or get back. For tests only. */
export function arpFrame(target: string, from = US): Uint8Array {
  const payload = encodeArp({
    operation: 1, senderHardwareAddress: from, senderProtocolAddress: ip("10.9.0.1"), targetHardwareAddress: new Uint8Array(6),
    targetProtocolAddress: ip(target),
  });
  return encodeEthernet({ destination: new Uint8Array(6).fill(255), source: from, etherType: ETHER_TYPE.arp, payload });
}

/** A SYN unless `flags` are given, without options. IPv4 or IPv6 by `to.ip`. */
export function tcpFrame(to: { readonly ip: string; readonly port: number }, options: {
  readonly from?: string; readonly fromPort?: number; readonly flags?: number; readonly mac?: Uint8Array;
} = {}): Uint8Array {
  const ends = { source: ip(options.from ?? (to.ip.includes(":") ? "fd00::1" : "10.9.0.1")), destination: ip(to.ip) };
  const payload = encodeTcp(
    { sourcePort: options.fromPort ?? 61_000, destinationPort: to.port, flags: options.flags ?? TCP_FLAG.syn }, ends,
  );
  return ipFrame(ends, IP_PROTOCOL.tcp, payload, options.mac);
}

/** Four bytes of data to a port. IPv4 or IPv6 by `to.ip`. */
export function udpFrame(
  to: { readonly ip: string; readonly port: number }, options: { readonly from?: string; readonly mac?: Uint8Array } = {},
): Uint8Array {
  const ends = { source: ip(options.from ?? (to.ip.includes(":") ? "fd00::1" : "10.9.0.1")), destination: ip(to.ip) };
  return ipFrame(
    ends, IP_PROTOCOL.udp, encodeUdp({ sourcePort: 61_000, destinationPort: to.port, payload: Uint8Array.of(1, 2, 3, 4) }, ends),
    options.mac,
  );
}

/** A neighbor solicitation for `target`, without options. @see RFC 4861 section 4.3 */
export function solicitationFrame(target: string): Uint8Array {
  const ends = { source: ip("fe80::1"), destination: ip("ff02::1:ff00:5") };
  const message = { kind: "neighbor-solicitation", target: ip(target), options: [] } as const;
  return ipFrame(ends, IP_PROTOCOL.icmpv6, encodeIcmpv6(message, ends));
}

/** An ICMPv6 echo request to all nodes. @see RFC 4443 section 4.1 */
export function echoToAllFrame(): Uint8Array {
  const ends = { source: ip("fe80::1"), destination: ip("ff02::1") };
  return ipFrame(
    ends, IP_PROTOCOL.icmpv6, encodeIcmpv6({ kind: "echo-request", identifier: 1, sequenceNumber: 1, data: new Uint8Array(0) }, ends),
  );
}

function ipFrame(
  ends: { readonly source: Uint8Array; readonly destination: Uint8Array }, protocol: number, payload: Uint8Array, destination = THEM,
): Uint8Array {
  const isIpv4 = ends.source.length === 4;
  const packet = isIpv4 ? encodeIpv4({ ...ends, protocol, payload }) : encodeIpv6({ ...ends, protocol, payload });
  return encodeEthernet({ destination, source: US, etherType: isIpv4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6, payload: packet });
}
