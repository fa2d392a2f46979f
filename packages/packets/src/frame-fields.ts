import type { LinkType } from "./numbers.ts";
import type { VlanTag } from "./link/vlan.ts";

const NO_TAGS: readonly VlanTag[] = [];

/** `other` has an EtherType that is not decoded further; `llc` is 802.3 without an EtherType: spanning tree, CDP. */
export type NetworkLayer = "arp" | "ipv4" | "ipv6" | "llc" | "other";

/**
 * `other` is an IP protocol that is not decoded further, or a header of which the capture holds only the beginning; `none` no IP at
 * all, a later fragment, or no next header.
 */
export type TransportLayer = "tcp" | "udp" | "icmpv4" | "icmpv6" | "other" | "none";

/** Whom the link layer addresses; `unknown` where the link type does not tell. */
export type Audience = "unicast" | "multicast" | "broadcast" | "unknown";

/**
 * Numbers and offsets of one frame, filled by the scanners of each protocol. Nothing is copied: what gives bytes makes a view when
 * asked. All fields are declared here at once so that every frame has one hidden class.
 */
export class FrameFields {
  /** The frame, still the caller's: what it overwrites changes here too. */
  readonly bytes: Uint8Array;
  /** The capture kept less than was on the wire, so lengths may point past the end. */
  readonly isCut: boolean;
  /** How the frame begins. */
  readonly linkType: LinkType;

  destinationMacOffset = -1;
  sourceMacOffset = -1;
  audience: Audience = "unknown";
  /** Outermost first. */
  vlanTags: readonly VlanTag[] = NO_TAGS;
  /** What the network layer is, behind VLAN tags and SNAP; 0 when `network` is `llc`. */
  etherType = 0;

  network: NetworkLayer = "other";
  networkOffset = 0;
  /** After the last byte of the network layer: Ethernet padding lies beyond. */
  networkEnd = 0;
  /** 0 when there is no ARP; else 1 request, 2 reply, … */
  arpOperation = 0;
  /** -1 when there is no IP. */
  sourceIpOffset = -1;
  /** 4 or 16, or 0 when there is no IP. The destination follows the source in both families. */
  ipLength = 0;
  /** Of the transport layer, behind IPv6's extension headers and IPv4's authentication header; -1 when there is no IP. */
  ipProtocol = -1;
  /** IPv4 spells it time to live; -1 when there is no IP. */
  hopLimit = -1;
  /** In bytes. Above 0 there is no transport header, and `transport` is `none`. */
  fragmentOffset = 0;
  moreFragments = false;

  transport: TransportLayer = "none";
  transportOffset = 0;
  /** -1 without UDP or TCP. */
  sourcePort = -1;
  destinationPort = -1;
  /** The nine flags of TCP_FLAG; 0 without TCP. */
  tcpFlags = 0;
  /** -1 without ICMP. */
  icmpType = -1;
  icmpCode = -1;

  payloadOffset = 0;
  payloadEnd = 0;

  /** Views that many ask for, made once. */
  private sourceMacView: Uint8Array | null = null;
  private sourceIpView: Uint8Array | null = null;
  private payloadView: Uint8Array | null = null;

  constructor(bytes: Uint8Array, linkType: LinkType, isCut: boolean) {
    this.bytes = bytes;
    this.linkType = linkType;
    this.isCut = isCut;
  }

  /** Six bytes, or null where the link type carries none. */
  get sourceMac(): Uint8Array | null {
    this.sourceMacView ??= this.view(this.sourceMacOffset, 6);
    return this.sourceMacView;
  }

  /** Six bytes, or null where the link type carries none. */
  get destinationMac(): Uint8Array | null {
    return this.view(this.destinationMacOffset, 6);
  }

  /** Four or sixteen bytes, or null when there is no IP. */
  get sourceIp(): Uint8Array | null {
    this.sourceIpView ??= this.view(this.sourceIpOffset, this.ipLength);
    return this.sourceIpView;
  }

  /** Four or sixteen bytes, or null when there is no IP. */
  get destinationIp(): Uint8Array | null {
    return this.view(this.ipLength === 0 ? -1 : this.sourceIpOffset + this.ipLength, this.ipLength);
  }

  /** ARP, IP or LLC from its first byte, without padding: for `decodeArp`, `decodeIpv4`, `decodeIpv6`, `decodeLlc`. */
  get networkBytes(): Uint8Array {
    return this.bytes.subarray(this.networkOffset, this.networkEnd);
  }

  /** UDP, TCP or ICMP from its first byte, without padding: for `decodeTcp`, `decodeIcmpv6`, … Empty when `transport` is `none`. */
  get transportBytes(): Uint8Array {
    return this.transport === "none" ? this.bytes.subarray(0, 0) : this.bytes.subarray(this.transportOffset, this.networkEnd);
  }

  /** What follows the last header that was decoded, without padding; for ICMP, what follows type, code and checksum. */
  get payload(): Uint8Array {
    this.payloadView ??= this.bytes.subarray(this.payloadOffset, this.payloadEnd);
    return this.payloadView;
  }

  private view(offset: number, length: number): Uint8Array | null {
    return offset < 0 ? null : this.bytes.subarray(offset, offset + length);
  }
}
