import { formatIp, formatMac, type Frame } from "@lanthorn/packets";

/** A tunnel's end on the link, and the address of the other one. */
interface TunnelEnd {
  readonly mac: string;
  readonly ip: string;
  readonly other: string;
}

/** Finds out which end of a tunnel is the host on the link, so that both ways of it are one incident. */
export interface TunnelEnds {
  /** @param gateways Addresses that are no inner end. @returns Null without MACs. */
  insideOf(frame: Frame, gateways: readonly string[]): TunnelEnd | null;
}

const MAX_PAIRS = 256;

/** The private address of two, or that which is no gateway's, or that which spoke first: 256 such pairs are kept. */
export function createTunnelEnds(): TunnelEnds {
  /** By both addresses in their order: the inner one. */
  const pairs = new Map<string, string>();

  function firstOf(source: string, destination: string): string {
    const key = source < destination ? `${source} ${destination}` : `${destination} ${source}`;
    const known = pairs.get(key);
    if (known !== undefined || pairs.size >= MAX_PAIRS) return known ?? source;
    pairs.set(key, source);
    return source;
  }
  return {
    insideOf({ sourceMac, destinationMac, sourceIp, destinationIp }, gateways) {
      if (!sourceMac || !destinationMac || !sourceIp || !destinationIp) return null;
      const [source, destination] = [formatIp(sourceIp), formatIp(destinationIp)];
      const isInner = (ip: Uint8Array, text: string) => isPrivate(ip) && !gateways.includes(text);
      const isDecided = isInner(sourceIp, source) !== isInner(destinationIp, destination);
      const isOut = isDecided ? isInner(sourceIp, source) : firstOf(source, destination) === source;
      return isOut ? { mac: formatMac(sourceMac), ip: source, other: destination } : { mac: formatMac(destinationMac), ip: destination, other: source };
    },
  };
}

/** @see RFC 1918, RFC 3927, RFC 6598 */
function isPrivate(ip: Uint8Array): boolean {
  const [a = 0, b = 0] = ip;
  return a === 10 || (a === 172 && (b & 0xf0) === 16) || (a === 192 && b === 168) || (a === 100 && (b & 0xc0) === 64) || (a === 169 && b === 254);
}
