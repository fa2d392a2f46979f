import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** PPP's protocol field, as PPPoE and PPTP carry it. */

/** The protocols that carry packets → their EtherType. @see https://www.iana.org/assignments/ppp-numbers */
const ETHER_TYPES: Readonly<Record<number, number>> = {
  0x0021: ETHER_TYPE.ipv4, 0x0057: ETHER_TYPE.ipv6, 0x0281: ETHER_TYPE.mpls, 0x0283: ETHER_TYPE.mplsUpstream,
};

/**
 * Reads the protocol, of one byte where its sender left the zero before it out.
 * @returns The EtherType of the same packets, or what it is in words: `ppp-c021`.
 * @see RFC 1661 section 2 and 6.5
 */
export function readPppProtocol(reader: Reader): number | string {
  const first = reader.u8();
  const protocol = (first & 1) === 1 ? first : (first << 8) | reader.u8();
  return ETHER_TYPES[protocol] ?? `ppp-${protocol.toString(16).padStart(4, "0")}`;
}
