import type { Envelope } from "./envelope.ts";
import type { Reader } from "../reader.ts";

/** Tags between the addresses and the EtherType that switches write for their own port extenders. */

/** Cisco's VN-Tag: direction, destination and source interface in four bytes. @see IEEE 802.1Qbh draft, Cisco VN-Tag */
export function readVnTag(reader: Reader): Envelope {
  reader.skip(4);
  return { kind: "vn-tag", etherType: reader.u16() };
}

/** The E-Tag of a port extender: six bytes. @see IEEE 802.1BR-2012 clause 7.5 */
export function readETag(reader: Reader): Envelope {
  reader.skip(6);
  return { kind: "e-tag", etherType: reader.u16() };
}
