/** Whether a rule's header is about a flow's ends. */

import type { AddressSet } from "../../rules/address-set.ts";
import type { PortSet } from "../../rules/port-set.ts";
import type { Rule } from "../../rules/rule.ts";

/** One end of a flow, as rules are held against it. */
export interface HeaderEnd {
  readonly isIpv4: boolean;
  /** A number of 32 bits for IPv4. */
  readonly ipv4: number;
  /** A number of 128 bits for IPv6, else 0. */
  readonly ipv6: bigint;
  /** -1 without ports. */
  readonly port: number;
}

/** @returns Whether a packet from `from` to `to` is what the header asks for, beside its protocol. */
export function testEnds({ source, destination, isBidirectional }: Rule, from: HeaderEnd, to: HeaderEnd): boolean {
  if (testPort(source.ports, from.port) && testPort(destination.ports, to.port) && holdsAddress(source.addresses, from) && holdsAddress(destination.addresses, to)) return true;
  return isBidirectional && testPort(source.ports, to.port) && testPort(destination.ports, from.port) && holdsAddress(source.addresses, to) && holdsAddress(destination.addresses, from);
}

function testPort({ isAny, ranges }: PortSet, port: number): boolean {
  return isAny || port < 0 || isInRanges(ranges, port);
}

/** @returns Whether an address is in a set. */
export function holdsAddress({ isAny, ipv4, ipv6 }: AddressSet, end: HeaderEnd): boolean {
  if (isAny) return true;
  return end.isIpv4 ? isInRanges(ipv4, end.ipv4) : isInRanges(ipv6, end.ipv6);
}

function isInRanges<T extends number | bigint>(ranges: readonly T[], value: T): boolean {
  let [low, high] = [0, ranges.length >> 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle * 2 + 1] as T) < value) low = middle + 1;
    else high = middle;
  }
  const from = ranges[low * 2];
  return from !== undefined && from <= value;
}
