/** Buffers that are headers of the packet. */

import type { WatchedPacket } from "@lanthorn/traffic";
import type { BufferName } from "../../rules/buffer-names.ts";

const UDP_HEADER_OCTETS = 8;

/** @returns The header with its options, or `null` where the packet has no such header. */
export function headerOf(packet: WatchedPacket, buffer: BufferName): Uint8Array | null {
  return HEADERS[buffer]?.(packet) ?? null;
}

const HEADERS: Readonly<Partial<Record<BufferName, (packet: WatchedPacket) => Uint8Array | null>>> = {
  "ipv4.hdr": ({ bytes, networkOffset, isIpv4 }) => (isIpv4 ? bytes.subarray(networkOffset, networkOffset + ((bytes[networkOffset] ?? 0) & 0x0f) * 4) : null),
  "ipv6.hdr": ({ bytes, networkOffset, transportOffset, isIpv4 }) => (isIpv4 ? null : bytes.subarray(networkOffset, transportOffset)),
  "tcp.hdr": ({ bytes, transportOffset, payloadOffset, isTcp }) => (isTcp ? bytes.subarray(transportOffset, payloadOffset) : null),
  "udp.hdr": ({ bytes, transportOffset, protocol }) => (protocol === 17 ? bytes.subarray(transportOffset, transportOffset + UDP_HEADER_OCTETS) : null),
  "icmpv4.hdr": ({ bytes, transportOffset, networkEnd, protocol }) => (protocol === 1 ? bytes.subarray(transportOffset, Math.min(transportOffset + ICMP_HEADER_OCTETS, networkEnd)) : null),
  "icmpv6.hdr": ({ bytes, transportOffset, networkEnd, protocol }) => (protocol === 58 ? bytes.subarray(transportOffset, networkEnd) : null),
};

/** Type, code, checksum, and what its kind says. @see RFC 792 */
const ICMP_HEADER_OCTETS = 8;

/** @returns What the packet carries: of ICMP behind its first eight bytes. */
export function payloadOf(packet: WatchedPacket): Uint8Array {
  const from = payloadBegin(packet);
  return from >= packet.payloadEnd ? NO_BYTES : packet.bytes.subarray(from, packet.payloadEnd);
}

/** @returns How long that is. */
export function payloadLength(packet: WatchedPacket): number {
  return Math.max(packet.payloadEnd - payloadBegin(packet), 0);
}

function payloadBegin({ payloadOffset, payloadEnd, protocol, transportOffset }: WatchedPacket): number {
  return protocol === 1 || protocol === 58 ? Math.min(transportOffset + ICMP_HEADER_OCTETS, payloadEnd) : payloadOffset;
}

const NO_BYTES = new Uint8Array(0);
