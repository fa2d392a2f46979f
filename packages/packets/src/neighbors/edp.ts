import { internetChecksum } from "../checksum.ts";
import { badValue, decoded, type Decoded } from "../decoded.ts";
import { MAC_LENGTH } from "../addresses.ts";
import { requireLength } from "../limits.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8, encodeUtf8 } from "../text.ts";
import { Writer } from "../writer.ts";

/**
 * Extreme Discovery Protocol, behind SNAP. There is no standard: this is what Extreme Networks' switches send, VLANs often in a frame
 * of their own.
 */

/** Multicast address of every EDP frame. */
export const EDP_DESTINATION = "00:e0:2b:00:00:00";
/** SNAP organization and protocol of an EDP frame. @see IEEE 802-2014 clause 9 */
export const EDP_SNAP = { organization: 0x00e02b, protocol: 0x00bb } as const;

const VERSION = 1;
const MARKER = 0x99;
const HEADER_LENGTH = 16;
const TLV_HEADER_LENGTH = 4;
const TYPE = { end: 0, display: 1, information: 2, vlan: 5 } as const;

/** What one TLV says. */
export type EdpItem =
  | { readonly kind: "display"; readonly name: string }
  | {
      readonly kind: "information";
      /** Counted from 0, as is the port; people count from 1. */
      readonly slot: number;
      readonly port: number;
      /** Of a stack. */
      readonly virtualChassis: number;
      /** One number of the software version in each byte. */
      readonly version: number;
      /** Sixteen bytes that nobody explains. */
      readonly connections: Uint8Array;
    }
  | {
      readonly kind: "vlan";
      /** 0x80: the VLAN has an address. */
      readonly flags: number;
      readonly vlanId: number;
      /** Four bytes, all zero without one. */
      readonly address: Uint8Array;
      readonly name: string;
    }
  /** Of a type that is not decoded, or of a length that this type cannot have. */
  | { readonly kind: "unknown"; readonly type: number; readonly value: Uint8Array };

/** One advertisement of one switch. Its VLANs may come in other frames. */
export interface EdpPdu {
  readonly sequence: number;
  /** As it was on the wire; an Internet checksum over the whole PDU. */
  readonly checksum: number;
  /** The switch's MAC. */
  readonly deviceId: Uint8Array;
  /** In wire order, up to the null TLV. */
  readonly items: readonly EdpItem[];
}

/** @param bytes What follows SNAP, without padding. @returns Views of `bytes`; `bad-value` for another version or an id that is no MAC. */
export function decodeEdp(bytes: Uint8Array): Decoded<EdpPdu> {
  const reader = new Reader(bytes);
  const version = reader.u8();
  reader.skip(1);
  const [length, checksum, sequence, idType] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  const deviceId = reader.take(MAC_LENGTH);
  if (reader.failed) return reader.malformed("edp");
  if (version !== VERSION) return badValue("edp", 0);
  if (idType !== 0) return badValue("edp", 8);
  if (length < HEADER_LENGTH) return badValue("edp", 2);
  reader.limit(length - HEADER_LENGTH);
  if (reader.failed) return reader.malformed("edp");
  const items = readTlvs(reader);
  return Array.isArray(items) ? decoded({ sequence, checksum, deviceId, items }) : badValue("edp", reader.offset);
}

/** Ends with a null TLV and fills the checksum. @throws PacketsError for an address of another length. */
export function encodeEdp({ sequence, deviceId, items }: Omit<EdpPdu, "checksum">): Uint8Array {
  requireLength("edp.deviceId", deviceId, MAC_LENGTH);
  const writer = new Writer(512).u8(VERSION).u8(0).u16(0).u16(0).u16(sequence).u16(0).put(deviceId);
  for (const item of items) {
    const [type, value] = encodeItem(item);
    writer.u8(MARKER).u8(type).u16(value.length + TLV_HEADER_LENGTH).put(value);
  }
  const bytes = writer.u8(MARKER).u8(TYPE.end).u16(TLV_HEADER_LENGTH).finish();
  writer.setU16(2, bytes.length);
  writer.setU16(4, internetChecksum(bytes));
  return bytes;
}

/** Null, with the reader at the TLV, where one has no marker or runs past the end. */
function readTlvs(reader: Reader): EdpItem[] | null {
  const items: EdpItem[] = [];
  while (reader.remaining > 0) {
    const start = reader.offset;
    const [marker, type, length] = [reader.u8(), reader.u8(), reader.u16()];
    if (marker === MARKER && type === TYPE.end) return items;
    const value = reader.take(length - TLV_HEADER_LENGTH);
    if (reader.failed || marker !== MARKER) {
      reader.offset = start;
      return null;
    }
    items.push(readTlv(type, value));
  }
  return items;
}

function readTlv(type: number, value: Uint8Array): EdpItem {
  const reader = new Reader(value);
  const item = readItem(type, reader);
  return item === null || reader.failed ? { kind: "unknown", type, value } : item;
}

function readItem(type: number, reader: Reader): EdpItem | null {
  switch (type) {
    case TYPE.display:
      return { kind: "display", name: readName(reader) };
    case TYPE.information: {
      const [slot, port, virtualChassis] = [reader.u16(), reader.u16(), reader.u16()];
      reader.skip(6);
      return { kind: "information", slot, port, virtualChassis, version: reader.u32(), connections: reader.take(16) };
    }
    case TYPE.vlan: {
      const flags = reader.u8();
      reader.skip(1);
      const vlanId = reader.u16();
      reader.skip(4);
      return { kind: "vlan", flags, vlanId, address: reader.take(4), name: readName(reader) };
    }
    default:
      return null;
  }
}

/** Ends at the first zero; older software leaves what its memory held behind it. */
function readName(reader: Reader): string {
  const bytes = reader.rest();
  const end = bytes.indexOf(0);
  return decodeUtf8(end < 0 ? bytes : bytes.subarray(0, end));
}

function encodeItem(item: EdpItem): readonly [type: number, value: Uint8Array] {
  switch (item.kind) {
    case "display":
      return [TYPE.display, new Writer().put(encodeUtf8(item.name)).u8(0).finish()];
    case "information": {
      requireLength("edp.connections", item.connections, 16);
      const writer = new Writer().u16(item.slot).u16(item.port).u16(item.virtualChassis).zeros(6).u32(item.version);
      return [TYPE.information, writer.put(item.connections).finish()];
    }
    case "vlan": {
      requireLength("edp.address", item.address, 4);
      const writer = new Writer().u8(item.flags).u8(0).u16(item.vlanId).zeros(4).put(item.address);
      return [TYPE.vlan, writer.put(encodeUtf8(item.name)).u8(0).finish()];
    }
    case "unknown":
    default:
      return [item.type, item.value];
  }
}
