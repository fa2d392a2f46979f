import { type AddressPrefix, formatPrefix, ipv4Bytes, ipv4Number, parsePrefix, prefixCovers } from "@lanthorn/packets";
import { LINK_LOCAL, type Link, ownIpv6Sources, ownLinkLocal } from "../capture/link.ts";
import { MAX_HOST_BITS } from "../search/find-neighbors-ipv6.ts";
import type { RoutedRange } from "../probing/routed-addresses.ts";
import { planSweep, type SweepRange } from "./sweep-plan.ts";

/** Where the hosts of a scan's target are to be looked for. */
export interface ScanTargets {
  /** In own IPv4 subnets, by ARP. */
  readonly ranges: readonly SweepRange[];
  /** Of the own link, by IPv6; our own addresses to ask from beside it. */
  readonly neighbors6: readonly { readonly prefix: AddressPrefix; readonly sources: readonly Uint8Array[] }[];
  /** Behind a router. */
  readonly routed: readonly RoutedRange[];
}

const prefixes = (...texts: readonly string[]) => texts.map((text) => parsePrefix(text) as AddressPrefix);
/** Nobody's, everybody's, this host's own, or only on a link: no router has a way to a host there. @see RFC 6890 */
const UNROUTED = prefixes("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/16", "ff00::/8", "fe80::/10");
const MAX_ADDRESSES = 2 ** MAX_HOST_BITS;

/** @returns Where to look, or in words why that is nowhere. */
export function planTargets(link: Link, target: AddressPrefix): ScanTargets | { readonly refused: string } {
  return target.bytes.length === 4 ? planIpv4(link, target) : planIpv6(link, target);
}

function planIpv4(link: Link, target: AddressPrefix): ScanTargets | { readonly refused: string } {
  const subnets = link.own.map(({ subnet }) => subnet).filter(({ bytes }) => bytes.length === 4);
  const isInside = subnets.some((subnet) => prefixCovers(subnet, target));
  const inTarget = subnets.filter((subnet) => prefixCovers(target, subnet));
  const { ranges, refused } = isInside || inTarget.length > 0
    ? planSweep(link, isInside ? [target] : inTarget)
    : { ranges: [], refused: [] };
  const routed = isInside ? [] : leftOut(target, inTarget);
  if (routed.length > 0 && UNROUTED.some((prefix) => prefixCovers(prefix, target))) {
    return { refused: `${formatPrefix(target)} is not routed` };
  }
  if (routed.reduce((sum, { count }) => sum + count, 0) > MAX_ADDRESSES) {
    return { refused: `${formatPrefix(target)} is larger than a /16` };
  }
  if (ranges.length + routed.length === 0) return { refused: refused[0] ?? `${formatPrefix(target)} contains no address of another host` };
  return { ranges, neighbors6: [], routed };
}

/** The addresses of a network that lie in none of the subnets, in runs. */
function leftOut(target: AddressPrefix, subnets: readonly AddressPrefix[]): readonly RoutedRange[] {
  const ends = (prefix: AddressPrefix) => [ipv4Number(prefix.bytes), ipv4Number(prefix.bytes) + 2 ** (32 - prefix.length)] as const;
  const [first, end] = ends(target);
  const taken = subnets.map(ends).toSorted(([a], [b]) => a - b);
  const starts = [first, ...taken.map(([, after]) => after)];
  const stops = [...taken.map(([begin]) => begin), end];
  return starts.flatMap((start, index) => {
    const count = (stops[index] as number) - start;
    return count > 0 ? [{ first: ipv4Bytes(start), count }] : [];
  });
}

function planIpv6(link: Link, target: AddressPrefix): ScanTargets | { readonly refused: string } {
  const isOnLink = prefixCovers(LINK_LOCAL, target) || link.own.some(({ subnet }) => prefixCovers(subnet, target));
  if (isOnLink) {
    const linkLocal = ownLinkLocal(link);
    const others = link.own.filter(({ bytes, subnet }) => bytes.length === 16 && prefixCovers(subnet, target)).map(({ bytes }) => bytes);
    const sources = [...others, ...(linkLocal ? [linkLocal] : []), ...ownIpv6Sources(link)];
    if (sources.length === 0) return { refused: "the interface has no IPv6 source address" };
    return {
      ranges: [], routed: [], neighbors6: [{ prefix: target, sources: sources.filter((one, index) => sources.indexOf(one) === index) }],
    };
  }
  if (UNROUTED.some((prefix) => prefixCovers(prefix, target))) return { refused: `${formatPrefix(target)} is not routed` };
  const hostBits = 128 - target.length;
  if (hostBits > MAX_HOST_BITS) {
    return { refused: `${formatPrefix(target)} is behind a router, and larger than a /${128 - MAX_HOST_BITS}` };
  }
  return { ranges: [], neighbors6: [], routed: [{ first: target.bytes, count: 2 ** hostBits }] };
}
