import type { AddressSet } from "@lanthorn/packet-io";
import { type AddressPrefix, parsePrefix, prefixCovers, prefixHolds } from "@lanthorn/packets";

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
  // Asked for each frame, and mostly nothing is excluded.
  if (outermost.length === 0) return () => false;
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
  if (other.prefixes.length === 0) return one;
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
