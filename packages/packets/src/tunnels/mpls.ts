import { internetChecksum } from "../checksum.ts";
import type { Envelope } from "./envelope.ts";
import type { FrameFields } from "../frame-fields.ts";
import { ETHER_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";

/**
 * RFC 3032: labels, and behind the last of them a packet of which nothing says what it is. RFC 4928 and 8469 tell by the first four bits: 4
 * IPv4, 6 IPv6, 1 an associated channel, 0 a control word. An Ethernet frame without a control word may begin with any of them, so each
 * claim is checked.
 */

/** Real stacks have up to five or six labels. */
const MAX_LABELS = 16;
const LABEL_BOTTOM = 0x100;
/** Fragment bits of a control word. @see RFC 4623 section 3 */
const FRAGMENTED = 0x00c0_0000;

/** EtherTypes that tell a frame from bytes that only lie where its type would. */
const KNOWN_ETHER_TYPES: ReadonlySet<number> = new Set([
  ETHER_TYPE.ipv4, ETHER_TYPE.ipv6, ETHER_TYPE.arp, ETHER_TYPE.vlan, ETHER_TYPE.providerVlan, ETHER_TYPE.oldProviderVlan, ETHER_TYPE.mpls,
  ETHER_TYPE.mplsUpstream, ETHER_TYPE.pppoeSession, 0x8863, ETHER_TYPE.lldp, 0x888e, ETHER_TYPE.backboneService, 0x8902, 0x9000,
]);

/** @returns The packet behind the labels, or a frame behind labels and control word. */
export function readMpls(reader: Reader, outer: Readonly<FrameFields>): Envelope | string {
  for (let count = 0; ; count += 1) {
    if (count === MAX_LABELS) return "mpls-labels";
    const label = reader.u32();
    if (reader.failed || (label & LABEL_BOTTOM) !== 0) break;
  }
  const inside = new Reader(reader.bytes, reader.offset, reader.end);
  const first = inside.u32();
  if (inside.failed) return "mpls-empty";
  switch (first >>> 28) {
    case 4:
      if (isIpv4(reader, outer.isCut) || !isFrameAt(reader, 0)) return { kind: "mpls", etherType: ETHER_TYPE.ipv4 };
      break;
    case 6:
      if (isIpv6(reader, outer.isCut) || !isFrameAt(reader, 0)) return { kind: "mpls", etherType: ETHER_TYPE.ipv6 };
      break;
    case 1:
      if (!isFrameAt(reader, 0)) return "mpls-associated-channel";
      break;
    case 0:
      if (!isFrameAt(reader, 0) || isFrameAt(reader, 4)) {
        if ((first & FRAGMENTED) !== 0) return "mpls-fragment";
        reader.skip(4);
      }
      break;
    default:
  }
  return { kind: "mpls", etherType: ETHER_TYPE.ethernet };
}

/** Whether a known EtherType stands where it would, had a frame begun `skipped` bytes from here. */
function isFrameAt(reader: Reader, skipped: number): boolean {
  const at = new Reader(reader.bytes, reader.offset, reader.end);
  at.skip(skipped + 12);
  return KNOWN_ETHER_TYPES.has(at.u16()) && !at.failed;
}

function isIpv4(reader: Reader, isCut: boolean): boolean {
  const at = new Reader(reader.bytes, reader.offset, reader.end);
  const headerLength = (at.u8() & 0x0f) * 4;
  at.skip(1);
  const length = at.u16();
  if (at.failed || headerLength < 20 || length < headerLength || headerLength > reader.remaining) return false;
  if (length > reader.remaining && !isCut) return false;
  return internetChecksum(reader.bytes, reader.offset, reader.offset + headerLength) === 0;
}

/** IPv6 has no checksum, so its length must be right to the byte. */
function isIpv6(reader: Reader, isCut: boolean): boolean {
  const at = new Reader(reader.bytes, reader.offset, reader.end);
  at.skip(4);
  const length = at.u16();
  const rest = reader.remaining - 40;
  return !at.failed && rest >= 0 && (length === rest || (isCut && length > rest));
}
