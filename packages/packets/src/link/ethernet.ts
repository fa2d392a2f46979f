import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { MAC_LENGTH } from "../addresses.ts";
import { PacketsError } from "../errors.ts";
import { FrameFields } from "../frame-fields.ts";
import { LINK_TYPE } from "../numbers.ts";
import { limitTo, requireLength, requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { encodeTagControl, isVlanTagType, MAX_VLAN_TAGS, scanVlanTags, type VlanTag } from "./vlan.ts";
import { Writer } from "../writer.ts";

/** IEEE 802.3-2018 clause 3: Ethernet II and 802.3 frames, as a capture shows them: without preamble and check sequence. */

/** Up to here the two bytes are a length; from 1536 on they are an EtherType; between them they are nothing. */
const MAX_LENGTH = 1500;
const FIRST_ETHER_TYPE = 0x0600;

/** The shortest frame on the wire, without its check sequence. Network cards pad by themselves, virtual ones do not. */
export const MINIMUM_ETHERNET_LENGTH = 60;

/** A frame without preamble and check sequence. Bytes are views of the captured frame. @see IEEE 802.3-2018 clause 3 */
export interface EthernetFrame {
  readonly destination: Uint8Array;
  readonly source: Uint8Array;
  /** Outermost first, at most four. */
  readonly vlanTags: readonly VlanTag[];
  /** Null in an 802.3 frame, whose payload is LLC and cut to its length field. */
  readonly etherType: number | null;
  /** With the padding, unless the frame has a length field: only the layer above knows. */
  readonly payload: Uint8Array;
}

/** @param bytes A whole frame. @returns Views of it. */
export function decodeEthernet(bytes: Uint8Array): Decoded<EthernetFrame> {
  const fields = new FrameFields(bytes, LINK_TYPE.ethernet, false);
  const stop = scanEthernet(new Reader(bytes), fields);
  if (stop) return stop;
  return decoded({
    destination: bytes.subarray(0, MAC_LENGTH),
    source: bytes.subarray(MAC_LENGTH, 2 * MAC_LENGTH),
    vlanTags: fields.vlanTags,
    etherType: fields.network === "llc" ? null : fields.etherType,
    payload: fields.networkBytes,
  });
}

/**
 * @param frame `vlanTags` may be left out. `minimumLength` pads with zeros, 60 unless given: an ARP request needs it.
 * @throws PacketsError for an address, tag or length that has no encoding.
 */
export function encodeEthernet(
  frame: Omit<EthernetFrame, "vlanTags"> & { readonly vlanTags?: readonly VlanTag[]; readonly minimumLength?: number },
): Uint8Array {
  const { destination, source, etherType, payload, vlanTags = [], minimumLength = MINIMUM_ETHERNET_LENGTH } = frame;
  requireLength("ethernet.destination", destination, MAC_LENGTH);
  requireLength("ethernet.source", source, MAC_LENGTH);
  requireRange("ethernet.vlanTags.length", vlanTags.length, 0, MAX_VLAN_TAGS);
  const writer = new Writer(Math.max(minimumLength, 14 + 4 * vlanTags.length + payload.length)).put(destination).put(source);
  for (const tag of vlanTags) {
    requireRange("vlan.vlanId", tag.vlanId, 0, 0xfff);
    if (!isVlanTagType(tag.protocol)) throw new PacketsError(`vlan.protocol ${tag.protocol} announces no tag`);
    requireRange("vlan.priority", tag.priority, 0, 7);
    writer.u16(tag.protocol).u16(encodeTagControl(tag));
  }
  if (etherType === null) requireRange("ethernet.payload.length", payload.length, 0, MAX_LENGTH);
  else requireRange("ethernet.etherType", etherType, FIRST_ETHER_TYPE, 0xffff);
  writer.u16(etherType ?? payload.length).put(payload);
  if (writer.length < minimumLength) writer.zeros(minimumLength - writer.length);
  return writer.finish();
}

/** Addresses, tags and type; leaves `network` as `llc` where there is a length instead of a type. */
export function scanEthernet(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const first = reader.u16();
  const rest = reader.u32();
  reader.skip(MAC_LENGTH);
  const type = reader.u16();
  if (reader.failed) return reader.malformed("ethernet");
  fields.destinationMacOffset = start;
  fields.sourceMacOffset = start + MAC_LENGTH;
  if ((first & 0x0100) === 0) fields.audience = "unicast";
  else fields.audience = first === 0xffff && rest === 0xffff_ffff ? "broadcast" : "multicast";
  return scanEtherType(reader, type, fields);
}

/** Follows `type` through VLAN tags, and leaves `reader` at the network layer. */
export function scanEtherType(reader: Reader, announced: number, fields: FrameFields): Malformed | null {
  let type = announced;
  if (isVlanTagType(type)) {
    const behind = scanVlanTags(reader, type, fields);
    if (typeof behind !== "number") return behind;
    type = behind;
  }
  if (type >= FIRST_ETHER_TYPE) fields.etherType = type;
  else {
    if (type > MAX_LENGTH) return badValue("ethernet", reader.offset - 2);
    const stop = limitTo(reader, type, "ethernet", fields.isCut);
    if (stop) return stop;
    fields.network = "llc";
  }
  fields.networkOffset = reader.offset;
  fields.networkEnd = reader.end;
  return null;
}
