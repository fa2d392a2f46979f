import type { Envelope } from "./envelope.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/**
 * Mirrored frames over GRE. Type I has no header of its own, II and III say from which VLAN the frame came.
 * @see draft-foschiano-erspan-03
 */

const VERSION_II = 1;
const VERSION_III = 2;
const TRUNCATED = 0x0400;
/** Frame types of type III. */
const FRAME_TYPE = { ethernet: 0, ip: 2 } as const;

/** @returns The mirrored frame. */
export function readErspanIi(reader: Reader): Envelope | string {
  const first = reader.u16();
  if (first >>> 12 === VERSION_III) return readBehindFirst(reader, first);
  if (first >>> 12 !== VERSION_II) return "erspan-version";
  const second = reader.u16();
  reader.skip(4);
  return { kind: "erspan", etherType: ETHER_TYPE.ethernet, vlanId: first & 0xfff, isCut: (second & TRUNCATED) !== 0 };
}

/** @returns The mirrored frame or packet. */
export function readErspanIii(reader: Reader): Envelope | string {
  const first = reader.u16();
  return first >>> 12 === VERSION_III ? readBehindFirst(reader, first) : "erspan-version";
}

function readBehindFirst(reader: Reader, first: number): Envelope | string {
  const second = reader.u16();
  reader.skip(6);
  const last = reader.u16();
  if ((last & 1) !== 0) reader.skip(8);
  const fields = { kind: "erspan", vlanId: first & 0xfff, isCut: (second & TRUNCATED) !== 0 } as const;
  const frameType = (last >>> 10) & 0x1f;
  if (frameType === FRAME_TYPE.ethernet) return { ...fields, etherType: ETHER_TYPE.ethernet };
  if (frameType !== FRAME_TYPE.ip) return "erspan-frame-type";
  const version = (reader.bytes[reader.offset] ?? 0) >>> 4;
  return { ...fields, etherType: version === 6 ? ETHER_TYPE.ipv6 : ETHER_TYPE.ipv4 };
}
