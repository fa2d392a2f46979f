/** EtherTypes. @see https://www.iana.org/assignments/ieee-802-numbers */
export const ETHER_TYPE = {
  ipv4: 0x0800,
  arp: 0x0806,
  vlan: 0x8100,
  ipv6: 0x86dd,
  providerVlan: 0x88a8,
  lldp: 0x88cc,
  /** Stacked tags of switches older than 802.1ad. */
  oldProviderVlan: 0x9100,
} as const;

/** IP protocols and IPv6 next headers. @see https://www.iana.org/assignments/protocol-numbers */
export const IP_PROTOCOL = {
  hopByHop: 0,
  icmpv4: 1,
  igmp: 2,
  tcp: 6,
  udp: 17,
  /** IPv6 inside of IPv4. RFC 4213. */
  ipv6: 41,
  routing: 43,
  fragment: 44,
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
