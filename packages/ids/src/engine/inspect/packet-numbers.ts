/** Numbers of packets and flows that rules ask for. */

import type { WatchedPacket } from "@lanthorn/traffic";
import type { NumberField } from "../../rules/condition.ts";
import { type FlowState, sideOf, uint32 } from "../flow/flow-state.ts";
import { payloadLength } from "./packet-buffers.ts";

/** @returns The number, or `null` where the packet or the flow has none. */
export function numberOf(field: NumberField, packet: WatchedPacket | null, flow: FlowState): number | null {
  const read = FIELDS[field];
  if (read) return packet === null ? null : read(packet);
  const side = field.endsWith("to-client") ? ["to-client"] as const : field.endsWith("to-server") ? ["to-server"] as const : ["to-client", "to-server"] as const;
  if (field.startsWith("flow.packets")) return side.reduce((sum, one) => sum + sideOf(flow, one).packets, 0);
  if (field.startsWith("flow.bytes")) return side.reduce((sum, one) => sum + sideOf(flow, one).octets, 0);
  return field === "flow.age" ? Math.floor((flow.lastAt - flow.startedAt) / 1e6) : null;
}

type Read = (packet: WatchedPacket) => number | null;

const FIELDS: Readonly<Partial<Record<NumberField, Read>>> = {
  "dsize": payloadLength,
  "ip.ttl": ({ bytes, networkOffset, isIpv4 }) => bytes[networkOffset + (isIpv4 ? 8 : 7)] ?? null,
  "ip.id": ({ bytes, networkOffset, isIpv4 }) => (isIpv4 ? uint16(bytes, networkOffset + 4) : null),
  "ip.tos": ({ bytes, networkOffset, isIpv4 }) => (isIpv4 ? bytes[networkOffset + 1] ?? null : null),
  "ip.protocol": ({ protocol }) => protocol,
  "ip.fragment-offset": ({ isIpv4 }) => (isIpv4 ? 0 : null),
  "tcp.sequence": ({ isTcp, sequence }) => (isTcp ? sequence : null),
  "tcp.acknowledgment": ({ isTcp, acknowledgment }) => (isTcp ? acknowledgment : null),
  "tcp.window": ({ isTcp, window }) => (isTcp ? window : null),
  "tcp.mss": (packet) => tcpOption(packet, 2, 2),
  "tcp.wscale": (packet) => tcpOption(packet, 3, 1),
  "icmp.type": (packet) => icmpByte(packet, 0),
  "icmp.code": (packet) => icmpByte(packet, 1),
  "icmp.id": (packet) => (isEcho(packet) ? uint16(packet.bytes, packet.transportOffset + 4) : null),
  "icmp.sequence": (packet) => (isEcho(packet) ? uint16(packet.bytes, packet.transportOffset + 6) : null),
  "icmpv6.mtu": ({ protocol, bytes, transportOffset }) => (protocol === 58 && bytes[transportOffset] === 2 ? uint32(bytes, transportOffset + 4) : null),
  "vlan.layers": ({ frame }) => frame?.vlanTags.length ?? 0,
};

function isIcmp({ protocol }: WatchedPacket): boolean {
  return protocol === 1 || protocol === 58;
}

function icmpByte(packet: WatchedPacket, at: number): number | null {
  return isIcmp(packet) && packet.transportOffset + at < packet.networkEnd ? packet.bytes[packet.transportOffset + at] ?? null : null;
}

/** What has an identifier and a sequence number: echo, time stamp, information and mask of ICMP; echo of ICMPv6. */
const WITH_IDENTIFIER: Readonly<Record<number, ReadonlySet<number>>> = { 1: new Set([0, 8, 13, 14, 15, 16, 17, 18]), 58: new Set([128, 129]) };

function isEcho(packet: WatchedPacket): boolean {
  return packet.transportOffset + 8 <= packet.networkEnd && (WITH_IDENTIFIER[packet.protocol]?.has(packet.bytes[packet.transportOffset] ?? -1) ?? false);
}

/** @returns The value of an option with that many bytes of it, or `null`. @see RFC 9293 section 3.2 */
function tcpOption({ isTcp, bytes, transportOffset, payloadOffset }: WatchedPacket, kind: number, length: number): number | null {
  if (!isTcp) return null;
  for (let at = transportOffset + 20; at < payloadOffset;) {
    const [found = 0, size = 0] = [bytes[at], bytes[at + 1]];
    if (found === 0) return null;
    if (found === kind && size === length + 2 && at + size <= payloadOffset) return length === 1 ? bytes[at + 2] ?? null : uint16(bytes, at + 2);
    if (found !== 1 && size < 2) return null;
    at += found === 1 ? 1 : size;
  }
  return null;
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
