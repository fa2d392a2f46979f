import { IPV6_LENGTH } from "../addresses.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { requireLength, requireRange } from "../limits.ts";
import { decodeNdpOptions, encodeNdpOptions, type NdpOption } from "./ndp-options.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** RFC 4861 section 4: Neighbor Discovery. Who judges a message must see that its hop limit is 255: else it came from beyond a router. */

/** Every valid message arrives with it: no router passed it on. @see RFC 4861 section 3.1 */
export const NDP_HOP_LIMIT = 255;

/** ICMPv6 types. @see RFC 4861 section 4 */
export const NDP_TYPE = {
  routerSolicitation: 133,
  routerAdvertisement: 134,
  neighborSolicitation: 135,
  neighborAdvertisement: 136,
  redirect: 137,
} as const;

type NdpType = (typeof NDP_TYPE)[keyof typeof NDP_TYPE];

/** One message, its options in wire order; targets and destinations have sixteen bytes. @see RFC 4861 section 4 */
export type NdpMessage =
  | { readonly kind: "router-solicitation"; readonly options: readonly NdpOption[] }
  | RouterAdvertisement
  | { readonly kind: "neighbor-solicitation"; readonly target: Uint8Array; readonly options: readonly NdpOption[] }
  | NeighborAdvertisement
  | { readonly kind: "redirect"; readonly target: Uint8Array; readonly destination: Uint8Array; readonly options: readonly NdpOption[] };

/** A router's settings for the hosts of its link; 0 in the two times in ms leaves them to the host. @see RFC 4861 section 4.2 */
export interface RouterAdvertisement {
  readonly kind: "router-advertisement";
  /** 0 leaves the choice to the host. */
  readonly hopLimit: number;
  /** Addresses come by DHCPv6. */
  readonly isManaged: boolean;
  /** Other settings come by DHCPv6. */
  readonly hasOtherConfiguration: boolean;
  /** RFC 4191; 2 is reserved. */
  readonly preference: "low" | "medium" | "high" | "reserved";
  /** 0: no default router. */
  readonly routerLifetimeSeconds: number;
  readonly reachableTimeMs: number;
  readonly retransmissionTimerMs: number;
  readonly options: readonly NdpOption[];
}

/** The owner of an address says so, asked or by itself. @see RFC 4861 section 4.4 */
export interface NeighborAdvertisement {
  readonly kind: "neighbor-advertisement";
  readonly isRouter: boolean;
  readonly isSolicited: boolean;
  readonly isOverride: boolean;
  readonly target: Uint8Array;
  readonly options: readonly NdpOption[];
}

/** By the two bits of the flag byte. @see RFC 4191 section 2.1 */
const PREFERENCES = ["medium", "high", "reserved", "low"] as const;

/** Whether an ICMPv6 type is one of Neighbor Discovery's five. */
export function isNdpType(type: number): type is NdpType {
  return type >= NDP_TYPE.routerSolicitation && type <= NDP_TYPE.redirect;
}

/**
 * The link-layer address that a message tells of its sender (source, in solicitations and router advertisements) or of its target
 * (in neighbor advertisements and redirects).
 * @returns A view, six bytes on Ethernet, or null when the message holds none.
 */
export function ndpLinkLayerAddress(message: NdpMessage): Uint8Array | null {
  const isAboutTarget = message.kind === "neighbor-advertisement" || message.kind === "redirect";
  const wanted = isAboutTarget ? "target-link-layer-address" : "source-link-layer-address";
  for (const option of message.options) if (option.kind === wanted) return option.address;
  return null;
}

/** @param reader Behind type, code and checksum. */
export function readNdp(reader: Reader, type: NdpType): Decoded<NdpMessage> {
  const head = readHead(reader, type);
  if (reader.failed) return reader.malformed("ndp");
  const start = reader.offset;
  const options = decodeNdpOptions(reader.rest());
  return options.ok ? decoded({ ...head, options: options.value }) : { ...options, offset: options.offset + start };
}

/** A message without its options. */
function readHead(reader: Reader, type: NdpType): NdpMessage {
  const options: readonly NdpOption[] = [];
  if (type === NDP_TYPE.routerAdvertisement) return readRouterAdvertisement(reader);
  const flags = reader.u32();
  if (type === NDP_TYPE.routerSolicitation) return { kind: "router-solicitation", options };
  const target = reader.take(IPV6_LENGTH);
  if (type === NDP_TYPE.neighborSolicitation) return { kind: "neighbor-solicitation", target, options };
  if (type === NDP_TYPE.redirect) return { kind: "redirect", target, destination: reader.take(IPV6_LENGTH), options };
  const isRouter = (flags & 0x8000_0000) !== 0;
  const isSolicited = (flags & 0x4000_0000) !== 0;
  const isOverride = (flags & 0x2000_0000) !== 0;
  return { kind: "neighbor-advertisement", isRouter, isSolicited, isOverride, target, options };
}

function readRouterAdvertisement(reader: Reader): RouterAdvertisement {
  const hopLimit = reader.u8();
  const flags = reader.u8();
  return {
    kind: "router-advertisement",
    hopLimit,
    isManaged: (flags & 0x80) !== 0,
    hasOtherConfiguration: (flags & 0x40) !== 0,
    preference: PREFERENCES[(flags >>> 3) & 3] ?? "reserved",
    routerLifetimeSeconds: reader.u16(),
    reachableTimeMs: reader.u32(),
    retransmissionTimerMs: reader.u32(),
    options: [],
  };
}

/** Writes the whole message with a checksum of 0. */
export function writeNdp(writer: Writer, message: NdpMessage): void {
  switch (message.kind) {
    case "router-solicitation":
      writer.u8(NDP_TYPE.routerSolicitation).zeros(7);
      break;
    case "router-advertisement":
      requireRange("ndp.hopLimit", message.hopLimit, 0, 0xff);
      requireRange("ndp.routerLifetimeSeconds", message.routerLifetimeSeconds, 0, 0xffff);
      requireRange("ndp.reachableTimeMs", message.reachableTimeMs, 0, 0xffff_ffff);
      requireRange("ndp.retransmissionTimerMs", message.retransmissionTimerMs, 0, 0xffff_ffff);
      writer.u8(NDP_TYPE.routerAdvertisement).zeros(3).u8(message.hopLimit);
      writer.u8(
        (message.isManaged ? 0x80 : 0) | (message.hasOtherConfiguration ? 0x40 : 0) | (PREFERENCES.indexOf(message.preference) << 3),
      );
      writer.u16(message.routerLifetimeSeconds).u32(message.reachableTimeMs).u32(message.retransmissionTimerMs);
      break;
    case "neighbor-solicitation":
      requireLength("ndp.target", message.target, IPV6_LENGTH);
      writer.u8(NDP_TYPE.neighborSolicitation).zeros(7).put(message.target);
      break;
    case "neighbor-advertisement":
      requireLength("ndp.target", message.target, IPV6_LENGTH);
      writer.u8(NDP_TYPE.neighborAdvertisement).zeros(3);
      writer.u8((message.isRouter ? 0x80 : 0) | (message.isSolicited ? 0x40 : 0) | (message.isOverride ? 0x20 : 0));
      writer.zeros(3).put(message.target);
      break;
    case "redirect":
      requireLength("ndp.target", message.target, IPV6_LENGTH);
      requireLength("ndp.destination", message.destination, IPV6_LENGTH);
      writer.u8(NDP_TYPE.redirect).zeros(7).put(message.target).put(message.destination);
  }
  writer.put(encodeNdpOptions(message.options));
}

/** What RFC 4861 asks of every Neighbor Discovery message: code 0. */
export function checkNdpCode(code: number): Malformed | null {
  return code === 0 ? null : badValue("ndp", 1);
}
