import { type AddressPrefix, formatPrefix, ipv4Number, parsePrefix, prefixCovers } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";

/** A run of IPv4 addresses to ask, held as numbers: no list, however many there are. */
export interface SweepRange {
  readonly network: AddressPrefix;
  readonly first: number;
  readonly count: number;
}

/** What a sweep asks, and what it leaves out. */
export interface SweepPlan {
  readonly ranges: readonly SweepRange[];
  /** Why a subnet is left out, in words. */
  readonly refused: readonly string[];
}

/** 65,536 addresses: at 200 packets/s five and a half minutes a pass. */
const MIN_PREFIX = 16;

const LINK_LOCAL = parsePrefix("169.254.0.0/16") as AddressPrefix;

/**
 * What may be asked: the interface's own IPv4 subnets, or those parts of them that the settings name.
 * @param networks Parts, as prefixes; empty for whole subnets.
 */
export function planSweep(link: Link, networks: readonly AddressPrefix[]): SweepPlan {
  const subnets = outermost(link.own.map(({ subnet }) => subnet).filter(({ bytes }) => bytes.length === 4));
  const refused: string[] = [];
  for (const part of networks) {
    if (!subnets.some((subnet) => prefixCovers(subnet, part)))
      refused.push(`${formatPrefix(part)} is not inside a subnet of this interface`);
  }
  const ranges = subnets.flatMap((subnet) => {
    const parts = networks.length === 0 ? [subnet] : outermost(networks.filter((part) => prefixCovers(subnet, part)));
    return parts.flatMap((part) => {
      const reason = refusal(part);
      if (reason !== null) refused.push(reason);
      return reason === null ? toRanges(subnet, part) : [];
    });
  });
  return { ranges, refused };
}

function refusal(part: AddressPrefix): string | null {
  // RFC 3927 hosts announce themselves; asking 65,534 random addresses finds no more of them.
  if (prefixCovers(LINK_LOCAL, part)) return `${formatPrefix(part)} is link-local: watched, but not swept`;
  if (part.length < MIN_PREFIX)
    return `${formatPrefix(part)} is larger than a /${MIN_PREFIX}: list the parts to sweep in sweep.networks`;
  return null;
}

/** Leaves the subnet's own address and its broadcast address out; in a /31 both are hosts, and a /32 has none beside ourselves. */
function toRanges(subnet: AddressPrefix, part: AddressPrefix): SweepRange[] {
  const network = ipv4Number(subnet.bytes);
  const reserved = subnet.length >= 31 ? 0 : 1;
  const lowest = Math.max(ipv4Number(part.bytes), network + reserved);
  const highest = Math.min(ipv4Number(part.bytes) + 2 ** (32 - part.length) - 1, network + 2 ** (32 - subnet.length) - 1 - reserved);
  return subnet.length === 32 || highest < lowest ? [] : [{ network: part, first: lowest, count: highest - lowest + 1 }];
}

/** Without those that lie in another one, and each once: two addresses in one subnet are one subnet. */
function outermost(prefixes: readonly AddressPrefix[]): AddressPrefix[] {
  return prefixes.filter((inner, index) =>
    prefixes.every((outer, other) => other === index || !prefixCovers(outer, inner) || (outer.length === inner.length && index < other)),
  );
}
