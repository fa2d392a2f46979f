import { decodeDns } from "@lanthorn/packets";
import { isNeighborAddress, type Link } from "./link.ts";
import type { Observer } from "./observer.ts";

/**
 * Reads a Multicast DNS response for the names of addresses. A reflector repeats what other links say: only addresses of this one count.
 * @see RFC 6762 section 6
 */
export function observeMdns(payload: Uint8Array, link: Link, observer: Observer): void {
  const decoded = decodeDns(payload);
  if (!decoded.ok || !decoded.value.isResponse) return;
  for (const records of [decoded.value.answers, decoded.value.additionals]) {
    for (const { name, ttlSeconds, data } of records) {
      // Section 10.1: a time to live of zero takes the name back.
      if (data.kind !== "address" || ttlSeconds === 0 || !name.toLowerCase().endsWith(".local")) continue;
      if (isNeighborAddress(link, data.address, 0, data.address.length)) observer.name({ address: data.address }, name, "mdns");
    }
  }
}
