import type { Envelope } from "./envelope.ts";
import { readErspanIi, readErspanIii } from "./erspan.ts";
import { ETHER_TYPE } from "../numbers.ts";
import { readPppProtocol } from "./ppp.ts";
import type { Reader } from "../reader.ts";

/** RFC 2784 and 2890: Generic Routing Encapsulation; RFC 2637 for version 1, PPTP's; ERSPAN rides on it. */

const FLAG = { checksum: 0x8000, routing: 0x4000, key: 0x2000, sequence: 0x1000, acknowledgement: 0x0080 } as const;
const VERSION = 0x0007;
/** Web caches' redirection: a frame's packet behind four bytes of its own. */
const WCCP = 0x883e;
const IPV4_NIBBLE = 4;

/** @returns The packet or frame inside; the kind is `erspan` for a mirror's. @see RFC 2890 section 2 */
export function readGre(reader: Reader): Envelope | string {
  const flags = reader.u16();
  const etherType = reader.u16();
  const version = flags & VERSION;
  if (version > 1) return `gre-version-${version}`;
  if ((flags & FLAG.routing) !== 0) return "gre-routing";
  if ((flags & FLAG.checksum) !== 0) reader.skip(4);
  if ((flags & FLAG.key) !== 0) reader.skip(4);
  if ((flags & FLAG.sequence) !== 0) reader.skip(4);
  if (version === 1 && (flags & FLAG.acknowledgement) !== 0) reader.skip(4);
  // An acknowledgement or a keep-alive has nothing behind its header.
  if (!reader.failed && reader.remaining === 0) return "gre-empty";
  switch (etherType) {
    case ETHER_TYPE.erspan:
      return (flags & FLAG.sequence) === 0 ? { kind: "erspan", etherType: ETHER_TYPE.ethernet } : readErspanIi(reader);
    case ETHER_TYPE.erspanIii:
      return readErspanIii(reader);
    case ETHER_TYPE.ppp:
      return readPpp(reader);
    case WCCP:
      if ((reader.bytes[reader.offset] ?? 0) >>> 4 !== IPV4_NIBBLE) reader.skip(4);
      return { kind: "gre", etherType: ETHER_TYPE.ipv4 };
    default:
      return { kind: "gre", etherType };
  }
}

/** Address and control may be left out. @see RFC 1662 section 3.1 */
function readPpp(reader: Reader): Envelope | string {
  if (reader.bytes[reader.offset] === 0xff && reader.bytes[reader.offset + 1] === 0x03) reader.skip(2);
  const etherType = readPppProtocol(reader);
  return typeof etherType === "string" ? etherType : { kind: "gre", etherType };
}
