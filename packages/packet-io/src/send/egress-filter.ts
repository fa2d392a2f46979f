import { type AddressSet } from "../address-set.ts";

/**
 * Printers print whatever reaches these ports: raw printing, and LPD. Nothing is ever sent to one, by whatever protocol.
 * @see RFC 1179 section 3 for 515
 */
export function isPrintPort(port: number): boolean {
  return (port >= 9100 && port <= 9107) || port === 515;
}

const ETHER_TYPE_AT = 12;
const ETHER_TYPE_IPV4 = 0x0800;
const ETHER_TYPE_ARP = 0x0806;
const ETHER_TYPE_IPV6 = 0x86dd;
const TCP = 6;
const UDP = 17;
const ICMP = 1;
const ICMPV6 = 58;
const NEIGHBOR_SOLICITATION = 135;

/**
 * Whether a frame may leave: it neither goes to nor asks for an excluded address, and is for no print port. What is not understood does
 * not leave: a VLAN tag, a fragment, an IPv6 extension header, another protocol.
 * @param bytes Holds the frame from `offset` on, `length` octets of it.
 */
export function mayPass(bytes: Uint8Array, offset: number, length: number, excluded: AddressSet): boolean {
  const etherType = word(bytes, offset + ETHER_TYPE_AT);
  const at = offset + 14;
  if (etherType === ETHER_TYPE_ARP) return length >= 42 && !excluded.holds(bytes, at + 24, 4);
  if (etherType === ETHER_TYPE_IPV4) {
    const headerLength = ((bytes[at] as number) & 15) * 4;
    // Without More Fragments and offset; Don't Fragment may be set.
    if (length < 14 + headerLength + 4 || headerLength < 20 || (word(bytes, at + 6) & 0x3fff) !== 0) return false;
    return !excluded.holds(bytes, at + 16, 4) && isHarmless(bytes, at + headerLength, bytes[at + 9] as number, ICMP);
  }
  if (etherType !== ETHER_TYPE_IPV6 || length < 14 + 40 + 4) return false;
  if (excluded.holds(bytes, at + 24, 16)) return false;
  const isSolicitation = bytes[at + 6] === ICMPV6 && bytes[at + 40] === NEIGHBOR_SOLICITATION;
  if (isSolicitation && (length < 14 + 40 + 24 || excluded.holds(bytes, at + 48, 16))) return false;
  // To all nodes: it would reach the excluded too.
  if (bytes[at + 24] === 0xff && !isSolicitation && excluded.hasIpv6) return false;
  return isHarmless(bytes, at + 40, bytes[at + 6] as number, ICMPV6);
}

function isHarmless(bytes: Uint8Array, at: number, protocol: number, icmp: number): boolean {
  if (protocol === TCP || protocol === UDP) return !isPrintPort(word(bytes, at + 2));
  return protocol === icmp;
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
