import { decodeDns, decodeFrame, ETHER_TYPE, NDP_TYPE, parseReverseName } from "@lanthorn/packets";
import type { AddressSet } from "@lanthorn/packet-io";
import { type AddressPrefix, parsePrefix, prefixCovers, prefixHolds } from "../observe/address-prefix.ts";

/** Addresses that nothing is ever sent to. */
export interface Exclusions extends AddressSet {
  /** The address is the whole of `bytes` unless offset and length are given. */
  holds(bytes: Uint8Array, offset?: number, length?: number): boolean;
  /** All of them, for who is to leave them out too. */
  readonly prefixes: readonly AddressPrefix[];
}

/**
 * @param prefixes In any order. What is asked of them takes as many steps as their number has bits: a collector may name thousands, and they
 * are looked through for each frame.
 */
export function createExclusions(prefixes: readonly AddressPrefix[]): Exclusions {
  const ipv4 = createLookup(prefixes.filter(({ bytes }) => bytes.length === 4));
  const ipv6 = createLookup(prefixes.filter(({ bytes }) => bytes.length === 16));
  return {
    prefixes,
    holds(bytes, offset = 0, length = bytes.length) {
      if (offset + length > bytes.length) return false;
      if (length === 4) return ipv4(bytes, offset);
      return length === 16 && ipv6(bytes, offset);
    },
    hasIpv6: prefixes.some(({ bytes }) => bytes.length === 16),
  };
}

/** @param prefixes Of one family. @returns Whether the address at `offset` lies in one of them. */
function createLookup(prefixes: readonly AddressPrefix[]): (bytes: Uint8Array, offset: number) => boolean {
  const outermost: AddressPrefix[] = [];
  // A prefix sorts before all that lie in it, so that those left are apart, and an address can only be in the last one at or below it.
  for (const prefix of prefixes.toSorted((a, b) => compareBytes(a.bytes, b.bytes, 0) || a.length - b.length)) {
    const last = outermost.at(-1);
    if (!last || !prefixCovers(last, prefix)) outermost.push(prefix);
  }
  return (bytes, offset) => {
    let low = 0;
    let high = outermost.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes((outermost[middle] as AddressPrefix).bytes, bytes, offset) <= 0) low = middle + 1;
      else high = middle;
    }
    const last = outermost[low - 1];
    return last !== undefined && prefixHolds(last, bytes, offset, last.bytes.length);
  };
}

/** @returns Below, at or above zero, as the first is less than what stands at `offset` in the second, the same, or more. */
function compareBytes(address: Uint8Array, bytes: Uint8Array, offset: number): number {
  for (let at = 0; at < address.length; at += 1) {
    const difference = (address[at] as number) - (bytes[offset + at] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** What either of two leaves out. */
export function bothExclusions(one: Exclusions, other: Exclusions): Exclusions {
  return {
    holds: (bytes, offset, length) => one.holds(bytes, offset, length) || other.holds(bytes, offset, length),
    hasIpv6: one.hasIpv6 || other.hasIpv6,
    prefixes: [...one.prefixes, ...other.prefixes],
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
