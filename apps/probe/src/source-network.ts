import { formatIpv4, isLinkLocalIp, parseIp, withoutZone } from "@lanthorn/packets";

const GROUPS = 4;
const MAPPED_OFFSET = 12;

/**
 * What one host may have addresses of, so that whoever is counted by it gets no more by having many.
 * @returns Of IPv6 the first 64 bits, as `2001:db8:1:2`; of IPv4, also within IPv6, and of a link's own addresses, which neighbors share, the address.
 * @see RFC 4291 sections 2.5.4, 2.5.5.2 and 2.5.6
 */
export function sourceNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const end = endOfGroups(address);
  if (end >= 0) return address.slice(0, end);
  const plain = withoutZone(address);
  const bytes = parseIp(plain);
  if (!bytes || isLinkLocalIp(bytes)) return plain;
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff) return formatIpv4(bytes, MAPPED_OFFSET);
  return Array.from({ length: GROUPS }, (_, group) => ((bytes[2 * group] as number) << 8 | (bytes[2 * group + 1] as number)).toString(16)).join(":");
}

/** Where the first four groups end that are written; below zero where some are left out. */
function endOfGroups(address: string): number {
  let end = -1;
  for (let group = 0; group < GROUPS; group += 1) {
    const next = address.indexOf(":", end + 1);
    if (next < 0 || next === end + 1) return -1;
    end = next;
  }
  return end;
}
