import { type DnsRecord, parseReverseName } from "@lanthorn/packets";
import type { BusFrame } from "../bus/frame-bus.ts";
import { isNeighborAddress, type Link } from "../capture/link.ts";
import { observeMdnsServices } from "./mdns-services.ts";
import type { Observer } from "../hosts/observer.ts";

/**
 * RFC 6762 section 17: no message is longer, fragments included. Of 60 KB of pointers to one long name, each is written out anew, which
 * took half a second.
 */
const MAX_MESSAGE_BYTES = 9000;

/**
 * Reads a Multicast DNS response for the names of addresses, and for what is offered there. A reflector repeats what other links
 * say: only addresses of this one count.
 * @see RFC 6762 section 6
 */
export function observeMdns(frame: Pick<BusFrame, "decoded" | "dns">, link: Link, observer: Observer): void {
  const headers = frame.decoded();
  if (!headers.ok || headers.value.payload.length > MAX_MESSAGE_BYTES) return;
  const decoded = frame.dns();
  if (!decoded.ok || !decoded.value.isResponse) return;
  for (const records of [decoded.value.answers, decoded.value.additionals]) {
    for (const { name, ttlSeconds, data } of records) {
      // Section 10.1: a time to live of zero takes the name back.
      if (ttlSeconds === 0) continue;
      const named = namedAddress(name, data);
      if (named && isNeighborAddress(link, named.address, 0, named.address.length)) {
        observer.name({ address: named.address }, named.name, "mdns");
      }
    }
  }
  observeMdnsServices(decoded.value, link, observer);
}

/** The address and the name that a record joins: forwards (A, AAAA) or backwards (PTR, section 4). */
function namedAddress(name: string, data: DnsRecord["data"]): { readonly address: Uint8Array; readonly name: string } | null {
  if (data.kind === "address") return isLocal(name) ? { address: data.address, name } : null;
  const address = data.kind === "name" && isLocal(data.name) ? parseReverseName(name) : null;
  return address && data.kind === "name" ? { address, name: data.name } : null;
}

function isLocal(name: string): boolean {
  return name.toLowerCase().endsWith(".local");
}
