import { decodeDns, decodeFrame, ETHER_TYPE, NDP_TYPE, parseReverseName } from "@lanthorn/packets";
import { type AddressPrefix, parsePrefix, prefixHolds } from "../observe/address-prefix.ts";

/** Addresses that nothing is ever sent to. */
export interface Exclusions {
  holds(address: Uint8Array): boolean;
  /** With one of these, nothing goes to all IPv6 nodes: it would reach them too. */
  readonly hasIpv6: boolean;
}

export function createExclusions(prefixes: readonly AddressPrefix[]): Exclusions {
  return {
    holds: (address) => prefixes.some((prefix) => prefixHolds(prefix, address, 0, address.length)),
    hasIpv6: prefixes.some(({ bytes }) => bytes.length === 16),
  };
}

/** @returns The prefixes, or the first text that is none. */
export function parsePrefixes(texts: readonly string[]): { readonly prefixes: readonly AddressPrefix[] } | { readonly wrong: string } {
  const prefixes: AddressPrefix[] = [];
  for (const text of texts) {
    const prefix = parsePrefix(text);
    if (!prefix) return { wrong: text };
    prefixes.push(prefix);
  }
  return { prefixes };
}

/** Behind the Ethernet and ARP headers of our own frames, which have no VLAN tag. @see RFC 826 */
const ARP_TARGET_ADDRESS_AT = 38;
/** Behind type, code, checksum and four reserved bytes. @see RFC 4861 section 4.3 */
const NDP_TARGET_AT = 8;
/** @see RFC 6762 section 3 */
const MDNS_PORT = 5353;

/**
 * Whether a frame may leave: it is one that discovery makes, and neither goes to nor asks for an excluded address. What is not understood
 * does not leave.
 */
export function mayLeave(frame: Uint8Array, exclusions: Exclusions): boolean {
  const decoded = decodeFrame(frame);
  if (!decoded.ok) return false;
  const { etherType, destinationIp, icmpType, transportBytes, destinationPort, payload } = decoded.value;
  if (etherType === ETHER_TYPE.arp) return !exclusions.holds(frame.subarray(ARP_TARGET_ADDRESS_AT, ARP_TARGET_ADDRESS_AT + 4));
  if (etherType === ETHER_TYPE.ipv4) return destinationPort === MDNS_PORT && asksForNames(payload, exclusions);
  if (etherType !== ETHER_TYPE.ipv6 || !destinationIp || exclusions.holds(destinationIp)) return false;
  if (icmpType === NDP_TYPE.neighborSolicitation) return !exclusions.holds(transportBytes.subarray(NDP_TARGET_AT, NDP_TARGET_AT + 16));
  return !exclusions.hasIpv6;
}

/** Whether a Multicast DNS message only asks for the names of addresses that are not excluded. */
function asksForNames(payload: Uint8Array, exclusions: Exclusions): boolean {
  const message = decodeDns(payload);
  if (!message.ok || message.value.isResponse || message.value.questions.length === 0) return false;
  return message.value.questions.every(({ name }) => {
    const address = parseReverseName(name);
    return address !== null && !exclusions.holds(address);
  });
}
