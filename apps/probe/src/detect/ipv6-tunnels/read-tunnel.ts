import { decodeTeredo, type Frame, IP_PROTOCOL, TEREDO_PORT } from "@lanthorn/packets";

/** How IPv6 goes through IPv4. */
export type TunnelKind = "6in4" | "ISATAP" | "Teredo";

const IPV6_HEADER_LENGTH = 40;
/** Where the interface identifier of the inner source begins. */
const IDENTIFIER_AT = 16;

/**
 * @returns Null for frames that carry no IPv6 inside of IPv4. ISATAP is known by its interface identifiers, 0000:5efe and 0200:5efe.
 * @see RFC 4213 section 3, RFC 5214 section 6.1, RFC 4380 section 5.1.1
 */
export function readTunnel(frame: Frame): TunnelKind | null {
  if (frame.network !== "ipv4") return null;
  if (frame.ipProtocol === IP_PROTOCOL.ipv6) {
    const inner = frame.transportBytes;
    if (frame.fragmentOffset > 0 || inner.length < IPV6_HEADER_LENGTH || (inner[0] as number) >>> 4 !== 6) return null;
    return isIsatap(inner, IDENTIFIER_AT) || isIsatap(inner, IDENTIFIER_AT + 16) ? "ISATAP" : "6in4";
  }
  if (frame.sourcePort !== TEREDO_PORT && frame.destinationPort !== TEREDO_PORT) return null;
  return decodeTeredo(frame.payload).ok ? "Teredo" : null;
}

function isIsatap(inner: Uint8Array, at: number): boolean {
  return ((inner[at] as number) & 0xfd) === 0 && inner[at + 1] === 0 && inner[at + 2] === 0x5e && inner[at + 3] === 0xfe;
}
