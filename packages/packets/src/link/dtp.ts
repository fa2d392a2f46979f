import { decoded, type Decoded } from "../decoded.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8 } from "../text.ts";
import { requireLength, requireRange } from "../limits.ts";
import { Writer } from "../writer.ts";

/** Cisco's Dynamic Trunking Protocol, behind SNAP: two ports agree whether all VLANs pass between them. There is no standard. */

/** Multicast address of every DTP and VTP frame, CDP's as well. */
export const DTP_DESTINATION = "01:00:0c:cc:cc:cc";
/** SNAP organization and protocol of a DTP frame. @see IEEE 802-2014 clause 9 */
export const DTP_SNAP = { organization: 0x00000c, protocol: 0x2004 } as const;

const TYPE = { domain: 1, status: 2, trunkType: 3, neighbor: 4 } as const;
const TLV_HEADER_LENGTH = 4;
const TRUNK_BIT = 0x80;
/** The lower three bits of a port's status. */
const MODES = ["unknown", "on", "off", "desirable", "auto", "unknown", "unknown", "unknown"] as const;

/** What a port says of trunking. */
export interface DtpPdu {
  readonly version: number;
  /** Of VTP; empty without one. */
  readonly domain: string;
  /** What the port is set to: `desirable` asks for a trunk, `auto` takes one. */
  readonly mode: (typeof MODES)[number];
  /** Whether the port is a trunk now. */
  readonly isTrunk: boolean;
  /** The sender's MAC as it says itself, six bytes and a view; null where it does not. */
  readonly neighbor: Uint8Array | null;
}

/** @param bytes What follows SNAP; padding may follow. @returns `truncated` where a TLV runs past the end. */
export function decodeDtp(bytes: Uint8Array): Decoded<DtpPdu> {
  const reader = new Reader(bytes);
  const version = reader.u8();
  if (reader.failed) return reader.malformed("dtp");
  let [domain, status] = ["", 0];
  let neighbor: Uint8Array | null = null;
  while (reader.remaining >= TLV_HEADER_LENGTH) {
    const [type, length] = [reader.u16(), reader.u16()];
    // Padding, which has no type.
    if (type === 0) break;
    const value = reader.take(length - TLV_HEADER_LENGTH);
    if (reader.failed) return reader.malformed("dtp");
    if (type === TYPE.domain) domain = readText(value);
    else if (type === TYPE.status) status = value[0] ?? 0;
    else if (type === TYPE.neighbor && value.length === 6) neighbor = value;
  }
  return decoded({ version, domain, mode: MODES[status & 7] ?? "unknown", isTrunk: (status & TRUNK_BIT) !== 0, neighbor });
}

/** @throws PacketsError for a field that has no encoding. */
export function encodeDtp({ version, domain, mode, isTrunk, neighbor }: DtpPdu): Uint8Array {
  requireRange("dtp.version", version, 0, 0xff);
  const text = new Uint8Array(32);
  requireRange("dtp.domain.length", domain.length, 0, text.length);
  for (let at = 0; at < domain.length; at += 1) text[at] = domain.charCodeAt(at);
  const writer = new Writer(64).u8(version).u16(TYPE.domain).u16(TLV_HEADER_LENGTH + text.length).put(text);
  writer.u16(TYPE.status).u16(TLV_HEADER_LENGTH + 1).u8((isTrunk ? TRUNK_BIT : 0) | MODES.indexOf(mode));
  writer.u16(TYPE.trunkType).u16(TLV_HEADER_LENGTH + 1).u8(0xa5);
  if (neighbor !== null) {
    requireLength("dtp.neighbor", neighbor, 6);
    writer.u16(TYPE.neighbor).u16(TLV_HEADER_LENGTH + neighbor.length).put(neighbor);
  }
  return writer.finish();
}

/** Ends at the first zero. */
function readText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decodeUtf8(end < 0 ? bytes : bytes.subarray(0, end));
}
