/** EtherTypes. @see https://www.iana.org/assignments/ieee-802-numbers */
export const ETHER_TYPE = {
  ipv4: 0x0800,
  arp: 0x0806,
  /** A whole Ethernet frame in a tunnel. RFC 1701. */
  ethernet: 0x6558,
  vlan: 0x8100,
  ipv6: 0x86dd,
  /** PPP in GRE. RFC 2637. */
  ppp: 0x880b,
  mpls: 0x8847,
  mplsUpstream: 0x8848,
  pppoeSession: 0x8864,
  providerVlan: 0x88a8,
  /** ERSPAN I and II in GRE. */
  erspan: 0x88be,
  lldp: 0x88cc,
  /** The service tag of IEEE 802.1ah. */
  backboneService: 0x88e7,
  /** Cisco FabricPath. */
  fabricPath: 0x8903,
  /** Cisco VN-Tag. */
  vnTag: 0x8926,
  /** The tag of IEEE 802.1BR. */
  eTag: 0x893f,
  /** ERSPAN III in GRE. */
  erspanIii: 0x22eb,
  /** Stacked tags of switches older than 802.1ad. */
  oldProviderVlan: 0x9100,
} as const;

/** IP protocols and IPv6 next headers. @see https://www.iana.org/assignments/protocol-numbers */
export const IP_PROTOCOL = {
  hopByHop: 0,
  icmpv4: 1,
  igmp: 2,
  /** IPv4 inside of IP. RFC 2003. */
  ipv4: 4,
  tcp: 6,
  udp: 17,
  /** IPv6 inside of IP. RFC 4213. */
  ipv6: 41,
  routing: 43,
  fragment: 44,
  gre: 47,
  esp: 50,
  authentication: 51,
  icmpv6: 58,
  noNextHeader: 59,
  destinationOptions: 60,
  vrrp: 112,
  mobility: 135,
  hostIdentity: 139,
  shim6: 140,
} as const;

/** How a capture's frames begin. @see https://www.tcpdump.org/linktypes.html */
export const LINK_TYPE = {
  null: 0,
  ethernet: 1,
  rawIp: 101,
  loop: 108,
  linuxCooked: 113,
  rawIpv4: 228,
  rawIpv6: 229,
  linuxCookedV2: 276,
} as const;

/** A link type that `decodeFrame` reads. */
export type LinkType = (typeof LINK_TYPE)[keyof typeof LINK_TYPE];

const LINK_TYPES: ReadonlySet<number> = new Set(Object.values(LINK_TYPE));

/** True when `decodeFrame` reads frames of this link type, a number from a capture file's header. */
export function isLinkType(value: number): value is LinkType {
  return LINK_TYPES.has(value);
}
