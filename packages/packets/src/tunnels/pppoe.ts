import type { Envelope } from "./envelope.ts";
import type { FrameFields } from "../frame-fields.ts";
import { limitTo } from "../limits.ts";
import { readPppProtocol } from "./ppp.ts";
import type { Reader } from "../reader.ts";

/** RFC 2516: PPP over Ethernet, the session stage; discovery has an EtherType of its own. */

const VERSION_AND_TYPE = 0x11;
const SESSION_DATA = 0;

/** @returns The packet inside, cut to PPPoE's length. @see RFC 2516 section 4 */
export function readPppoe(reader: Reader, outer: Readonly<FrameFields>): Envelope | string {
  const versionAndType = reader.u8();
  const code = reader.u8();
  reader.skip(2);
  const length = reader.u16();
  if (versionAndType !== VERSION_AND_TYPE || code !== SESSION_DATA) return "pppoe-header";
  if (limitTo(reader, length, "pppoe", outer.isCut)) return "pppoe-length";
  const etherType = readPppProtocol(reader);
  return typeof etherType === "string" ? etherType : { kind: "pppoe", etherType };
}
