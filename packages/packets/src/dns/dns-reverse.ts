import { formatIpv4, IPV4_LENGTH, IPV6_LENGTH, parseIp, parseIpv4 } from "../addresses.ts";
import { PacketsError } from "../errors.ts";

const IPV4_SUFFIX = ".in-addr.arpa";
const IPV6_SUFFIX = ".ip6.arpa";

/**
 * The name whose PTR record names the host of an address.
 * @param ip Four or sixteen bytes, or their text.
 * @throws PacketsError for anything else.
 * @see RFC 1035 section 3.5, RFC 3596 section 2.5
 */
export function reverseName(ip: Uint8Array | string): string {
  const bytes = typeof ip === "string" ? parseIp(ip) : ip;
  if (bytes?.length === IPV4_LENGTH) return formatIpv4(bytes.toReversed()) + IPV4_SUFFIX;
  if (bytes?.length !== IPV6_LENGTH) throw new PacketsError(`"${ip.toString()}" is no IP address`);
  const nibbles = [...bytes].flatMap((byte) => [byte >>> 4, byte & 0x0f]);
  return nibbles.toReversed().map((nibble) => nibble.toString(16)).join(".") + IPV6_SUFFIX;
}

/** The address that a reverse name stands for: four or sixteen bytes, or null for any other name, a network's among them. */
export function parseReverseName(name: string): Uint8Array | null {
  const lower = name.toLowerCase();
  if (lower.endsWith(IPV4_SUFFIX)) return parseIpv4(lower.slice(0, -IPV4_SUFFIX.length))?.toReversed() ?? null;
  if (!/^(?:[0-9a-f]\.){32}ip6\.arpa$/.test(lower)) return null;
  const digits = lower.slice(0, 64).split(".").toReversed().join("");
  return Uint8Array.from({ length: IPV6_LENGTH }, (_, index) => Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16));
}
