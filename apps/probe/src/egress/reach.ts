import { type AddressPrefix, createPrefix, parseIp, prefixCovers } from "@lanthorn/packets";
import { LINK_LOCAL, type Link } from "../capture/link.ts";

/**
 * What the probe's own file lets be asked at the collector's word, whatever that says: a collector in wrong hands must not turn the probe on
 * networks that nobody at the site has named.
 */
export interface Reach {
  /** Whether all of a network may be asked. @param link Null while the interface is away: then its own subnets are not known. */
  covers(target: AddressPrefix, link: Pick<Link, "own"> | null): boolean;
  /** The same of one address, of either family. */
  holds(ip: string, link: Pick<Link, "own"> | null): boolean;
}

/**
 * @param file.networks Parts of the own subnets; all of them where it is empty.
 * @param file.beyond Networks behind routers: `sweep.routed` and `scan.networks`.
 */
export function createReach(file: { readonly networks: readonly AddressPrefix[]; readonly beyond: readonly AddressPrefix[] }): Reach {
  const covers: Reach["covers"] = (target, link) => {
    const own = file.networks.length > 0 ? file.networks : [LINK_LOCAL, ...(link?.own ?? []).map(({ subnet }) => subnet)];
    return [...own, ...file.beyond].some((network) => prefixCovers(network, target));
  };
  return {
    covers,
    holds(ip, link) {
      const bytes = parseIp(ip);
      return bytes !== null && covers(createPrefix(bytes, bytes.length * 8), link);
    },
  };
}
