import { decoded, type Decoded } from "../decoded.ts";
import { PacketsError } from "../errors.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.1AB-2016 8.4 and 8.6.1: type, length and value, and those whose value begins with an organization. */

/** TLV types. */
export const LLDP_TLV = {
  end: 0,
  chassisId: 1,
  portId: 2,
  timeToLive: 3,
  portDescription: 4,
  systemName: 5,
  systemDescription: 6,
  systemCapabilities: 7,
  managementAddress: 8,
  organizational: 127,
} as const;

/** Whose subtypes an organizational TLV has. */
export const LLDP_ORGANIZATION = {
  /** IEEE 802.1Q annex D. */
  dot1: 0x0080c2,
  /** IEEE 802.3 clause 79. */
  dot3: 0x00120f,
  /** ANSI/TIA-1057. */
  med: 0x0012bb,
} as const;

const MAX_VALUE_LENGTH = 511;

/** One TLV as it is on the wire. */
export interface LldpTlv {
  /** 0–127. */
  readonly type: number;
  /** At most 511 bytes; a view. */
  readonly value: Uint8Array;
}

/**
 * Splits an LLDPDU into its TLVs, stopping after End Of LLDPDU, which is left out as the padding behind it is.
 * @param pdu Bytes after EtherType 0x88cc.
 * @returns TLVs in wire order as views, not copies, or `truncated` at the TLV that runs past `pdu`. An end without
 * End Of LLDPDU is no fault.
 * @see IEEE 802.1AB-2016 8.4: 7 bits of type, 9 of length
 */
export function splitLldpTlvs(pdu: Uint8Array): Decoded<readonly LldpTlv[]> {
  const reader = new Reader(pdu);
  const tlvs: LldpTlv[] = [];
  while (reader.remaining > 0) {
    const start = reader.offset;
    const head = reader.u16();
    const value = reader.take(head & MAX_VALUE_LENGTH);
    if (reader.failed) return { ok: false, code: "truncated", layer: "lldp", offset: start };
    if (head >>> 9 === LLDP_TLV.end) break;
    tlvs.push({ type: head >>> 9, value });
  }
  return decoded(tlvs);
}

/** Ends with End Of LLDPDU. @throws PacketsError for a type or a length that has no encoding. */
export function joinLldpTlvs(tlvs: readonly LldpTlv[]): Uint8Array {
  const writer = new Writer(512);
  for (const { type, value } of tlvs) {
    if (!Number.isInteger(type) || type < 1 || type > 127) throw new PacketsError(`lldp has no TLV of type ${type}`);
    if (value.length > MAX_VALUE_LENGTH) throw new PacketsError(`an lldp TLV has at most ${MAX_VALUE_LENGTH} bytes, not ${value.length}`);
    writer.u16((type << 9) | value.length).put(value);
  }
  return writer.u16(0).finish();
}
