import type { Envelope } from "./envelope.ts";
import type { Reader } from "../reader.ts";

/** RFC 8926: Generic Network Virtualization Encapsulation. */

/** @see RFC 8926 section 3.3 */
export const GENEVE_PORT = 6081;

const CONTROL = 0x80;
const OPTION_HEADER_LENGTH = 4;
const FIRST_ETHER_TYPE = 0x0600;

/**
 * Others use the port too: the version, the reserved bits and the lengths of the options must be right.
 * @returns In words what it is for a control packet; null for what is no Geneve.
 * @see RFC 8926 sections 3.4 and 3.5
 */
export function readGeneve(reader: Reader): Envelope | string | null {
  const versionAndLength = reader.u8();
  const flags = reader.u8();
  const etherType = reader.u16();
  const network = reader.u24();
  const reserved = reader.u8();
  if (reader.failed || versionAndLength >>> 6 !== 0 || (flags & 0x3f) !== 0 || reserved !== 0 || etherType < FIRST_ETHER_TYPE) return null;
  const end = reader.offset + (versionAndLength & 0x3f) * 4;
  while (reader.offset < end) {
    reader.skip(OPTION_HEADER_LENGTH - 1);
    reader.skip((reader.u8() & 0x1f) * 4);
    if (reader.failed) return null;
  }
  if (reader.offset !== end) return null;
  return (flags & CONTROL) === 0 ? { kind: "geneve", etherType, network } : "geneve-control";
}
