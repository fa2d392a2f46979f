import { FrameFields } from "../frame-fields.ts";
import { decodeUpwards, type Frame } from "../frame.ts";
import { readTeredo, TEREDO_PORT } from "../ip/teredo.ts";
import { scanEthernet, scanEtherType } from "../link/ethernet.ts";
import { ETHER_TYPE, IP_PROTOCOL, LINK_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import type { EncapsulationKind, Envelope, ReadEnvelope } from "./envelope.ts";
import { readFabricPath } from "./fabric-path.ts";
import { readETag, readVnTag } from "./fabric-tags.ts";
import { GENEVE_PORT, readGeneve } from "./geneve.ts";
import { readGre } from "./gre.ts";
import { readInnerIpv4, readInnerIpv6 } from "./ip-in-ip.ts";
import { readMpls } from "./mpls.ts";
import { readBackboneService } from "./pbb.ts";
import { readPppoe } from "./pppoe.ts";
import { readVxlan, readVxlanGpe, VXLAN_GPE_PORT, VXLAN_PORTS } from "./vxlan.ts";

/** Real stacks have two or three. More are an attempt to make a decoder walk. */
export const MAX_ENCAPSULATIONS = 8;

/** What announces an encapsulation → who reads it. */
const BY_ETHER_TYPE: ReadonlyMap<number, ReadEnvelope> = new Map<number, ReadEnvelope>([
  [ETHER_TYPE.mpls, readMpls],
  [ETHER_TYPE.mplsUpstream, readMpls],
  [ETHER_TYPE.pppoeSession, readPppoe],
  [ETHER_TYPE.backboneService, readBackboneService],
  [ETHER_TYPE.fabricPath, readFabricPath],
  [ETHER_TYPE.vnTag, readVnTag],
  [ETHER_TYPE.eTag, readETag],
]);
const BY_IP_PROTOCOL: ReadonlyMap<number, ReadEnvelope> = new Map<number, ReadEnvelope>([
  [IP_PROTOCOL.ipv4, readInnerIpv4],
  [IP_PROTOCOL.ipv6, readInnerIpv6],
  [IP_PROTOCOL.gre, readGre],
]);
const BY_PORT: ReadonlyMap<number, ReadEnvelope> = new Map<number, ReadEnvelope>([
  ...VXLAN_PORTS.map((port): [number, ReadEnvelope] => [port, readVxlan]),
  [VXLAN_GPE_PORT, readVxlanGpe],
  [GENEVE_PORT, readGeneve],
  [TEREDO_PORT, readTeredo],
]);
/** Most datagrams are on none of the ports: two comparisons say so of nearly all of them. */
const LOWEST_PORT = Math.min(...BY_PORT.keys());
const HIGHEST_PORT = Math.max(...BY_PORT.keys());

/** @returns False for a port of UDP that no tunnel has: `unwrapFrame` finds nothing in a datagram whose ports are both of this kind. */
export function mayBeTunnelPort(port: number): boolean {
  return port >= LOWEST_PORT && port <= HIGHEST_PORT;
}

/** What says that packets are inside: an EtherType, a protocol of IP, or a port of UDP. */
export type TunnelSign = "ether-type" | "ip-protocol" | "udp-port";

const SIGNS: Readonly<Record<TunnelSign, ReadonlyMap<number, ReadEnvelope>>> = { "ether-type": BY_ETHER_TYPE, "ip-protocol": BY_IP_PROTOCOL, "udp-port": BY_PORT };

/** @returns Whether `unwrapFrame` reads what is announced by this. */
export function isTunnelSign(sign: TunnelSign, value: number): boolean {
  return SIGNS[sign].has(value);
}

/** One layer taken off. */
export type Unwrapped =
  | {
    readonly ok: true;
    readonly kind: EncapsulationKind;
    /** The packet inside, as offsets into the same bytes. Without a link header of its own it has the outer one's addresses and VLAN tags. */
    readonly frame: Frame;
    /** VXLAN's and Geneve's network, 802.1ah's service: the same addresses in another one are other hosts. 0 without one. */
    readonly network: number;
  }
  /** An encapsulation, of which the inside cannot be read; `reason` names what it is: `ppp-c021`, `gre-version-3`, `mpls-malformed`. */
  | { readonly ok: false; readonly reason: string };

/**
 * Takes one encapsulation off: 802.1ah, PPPoE, MPLS, FabricPath, VN-Tag, E-Tag, GRE, ERSPAN, VXLAN, Geneve, Teredo, IP in IP. VLAN tags
 * are no encapsulation here: `decodeFrame` reads them. A datagram on a tunnel's port whose header is not that tunnel's is none either. The
 * packet in fragments must be put together before.
 * @returns Null for a packet that is not wrapped.
 */
export function unwrapFrame(frame: Frame): Unwrapped | null {
  const read = findReader(frame);
  if (read === undefined || frame.moreFragments || frame.fragmentOffset > 0) return null;
  const reader = new Reader(frame.bytes, frame.payloadOffset, frame.payloadEnd);
  const envelope = read(reader, frame);
  if (envelope === null) return null;
  if (typeof envelope === "string") return { ok: false, reason: reader.failed ? `${nameOf(frame)}-truncated` : envelope };
  if (reader.failed) return { ok: false, reason: `${envelope.kind}-truncated` };
  const inner = decodeInside(reader, frame, envelope);
  return inner === null ? { ok: false, reason: `${envelope.kind}-malformed` } : { ok: true, kind: envelope.kind, frame: inner, network: envelope.network ?? 0 };
}

/** A packet and what it was wrapped in. */
export interface Decapsulated {
  /** The innermost packet that can be read. */
  readonly frame: Frame;
  /** Outermost first. */
  readonly encapsulations: readonly EncapsulationKind[];
  /** The innermost virtual network; 0 without one. */
  readonly network: number;
  /** What the innermost packet is where it is an encapsulation that cannot be read: `gre-version-3`; null where all was read. */
  readonly notUnderstood: string | null;
}

const NO_ENCAPSULATIONS: readonly EncapsulationKind[] = [];

/** Takes all encapsulations off, at most `MAX_ENCAPSULATIONS`. @see unwrapFrame */
export function decapsulate(frame: Frame): Decapsulated {
  let unwrapped = unwrapFrame(frame);
  if (unwrapped === null) return { frame, encapsulations: NO_ENCAPSULATIONS, network: 0, notUnderstood: null };
  const encapsulations: EncapsulationKind[] = [];
  let [inner, network] = [frame, 0];
  while (unwrapped?.ok === true) {
    if (encapsulations.length === MAX_ENCAPSULATIONS) return { frame: inner, encapsulations, network, notUnderstood: "too-deep" };
    encapsulations.push(unwrapped.kind);
    inner = unwrapped.frame;
    if (unwrapped.network !== 0) ({ network } = unwrapped);
    unwrapped = unwrapFrame(inner);
  }
  return { frame: inner, encapsulations, network, notUnderstood: unwrapped === null ? null : unwrapped.reason };
}

function findReader(frame: Frame): ReadEnvelope | undefined {
  switch (frame.transport) {
    case "tcp":
    case "icmpv4":
    case "icmpv6":
      return undefined;
    case "udp":
      return findByPort(frame.destinationPort) ?? findByPort(frame.sourcePort);
    case "other":
      return BY_IP_PROTOCOL.get(frame.ipProtocol);
    case "none":
      return frame.network === "other" ? BY_ETHER_TYPE.get(frame.etherType) : undefined;
    default:
      return frame.transport satisfies never;
  }
}

function findByPort(port: number): ReadEnvelope | undefined {
  return port < LOWEST_PORT || port > HIGHEST_PORT ? undefined : BY_PORT.get(port);
}

function nameOf(frame: Frame): string {
  return frame.ipProtocol < 0 ? `ethertype-${frame.etherType.toString(16).padStart(4, "0")}` : `ip-protocol-${frame.ipProtocol}`;
}

/** @returns Null where what is inside does not hold to its own headers. */
function decodeInside(reader: Reader, outer: Frame, envelope: Envelope): Frame | null {
  const isFrame = envelope.etherType === ETHER_TYPE.ethernet;
  const fields = new FrameFields(outer.bytes, LINK_TYPE.ethernet, outer.isCut || envelope.isCut === true);
  let stop;
  if (isFrame) stop = scanEthernet(reader, fields);
  else {
    fields.destinationMacOffset = outer.destinationMacOffset;
    fields.sourceMacOffset = outer.sourceMacOffset;
    fields.audience = outer.audience;
    stop = scanEtherType(reader, envelope.etherType, fields);
    if (outer.vlanTags.length > 0) fields.vlanTags = [...outer.vlanTags, ...fields.vlanTags];
  }
  if (fields.vlanTags.length === 0 && envelope.vlanId) {
    fields.vlanTags = [{ protocol: ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId: envelope.vlanId }];
  }
  const result = decodeUpwards(reader, fields, stop);
  return result.ok ? result.value : null;
}
