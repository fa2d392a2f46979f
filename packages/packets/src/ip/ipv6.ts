import { IPV6_LENGTH } from "../addresses.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { PacketsError } from "../errors.ts";
import { FrameFields } from "../frame-fields.ts";
import {
  type ExtensionHeader,
  type ExtensionVisitor,
  extensionLength,
  isExtensionHeader,
  MAX_EXTENSION_HEADERS,
  walkExtensions,
} from "./ipv6-extensions.ts";
import { limitTo, requireLength, requireRange } from "../limits.ts";
import { LINK_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 8200: Internet Protocol, version 6. */

const HEADER_LENGTH = 40;
const DEFAULT_HOP_LIMIT = 64;

/** A packet or a fragment of one. Bytes are views of the captured frame. @see RFC 8200 sections 3 and 4 */
export interface Ipv6Packet {
  readonly trafficClass: number;
  readonly flowLabel: number;
  readonly hopLimit: number;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  /** In wire order, at most twelve. */
  readonly extensionHeaders: readonly ExtensionHeader[];
  /** What the payload is, behind all extension headers. */
  readonly protocol: number;
  /** In bytes; above 0 the payload begins in the middle of something. */
  readonly fragmentOffset: number;
  readonly moreFragments: boolean;
  /** Up to the payload length: no Ethernet padding. */
  readonly payload: Uint8Array;
}

/** @param bytes From the version on; what lies behind the payload length is ignored. @returns Views of `bytes`. */
export function decodeIpv6(bytes: Uint8Array): Decoded<Ipv6Packet> {
  const fields = new FrameFields(bytes, LINK_TYPE.rawIpv6, false);
  const extensionHeaders: ExtensionHeader[] = [];
  const stop = scanIpv6(new Reader(bytes), fields, (type, start, end) => {
    extensionHeaders.push({ type, bytes: bytes.subarray(start, end) });
  });
  if (stop) return stop;
  const first = new Reader(bytes).u32();
  return decoded({
    trafficClass: (first >>> 20) & 0xff,
    flowLabel: first & 0xf_ffff,
    hopLimit: fields.hopLimit,
    source: bytes.subarray(8, 8 + IPV6_LENGTH),
    destination: bytes.subarray(8 + IPV6_LENGTH, HEADER_LENGTH),
    extensionHeaders,
    protocol: fields.ipProtocol,
    fragmentOffset: fields.fragmentOffset,
    moreFragments: fields.moreFragments,
    payload: fields.payload,
  });
}

/** What is needed of a packet; the rest is 0, none, and 64 hops. Fragments are recognized by their extension header. */
export type Ipv6Fields = Pick<Ipv6Packet, "protocol" | "source" | "destination" | "payload"> &
  Partial<Pick<Ipv6Packet, "trafficClass" | "flowLabel" | "hopLimit" | "extensionHeaders">>;

/**
 * Fills the payload length and the next-header byte of every header; what `extensionHeaders` hold there is overwritten.
 * @throws PacketsError for a field that has no encoding.
 */
export function encodeIpv6(packet: Ipv6Fields): Uint8Array {
  const { source, destination, protocol, payload, extensionHeaders = [] } = packet;
  const { trafficClass = 0, flowLabel = 0, hopLimit = DEFAULT_HOP_LIMIT } = packet;
  requireLength("ipv6.source", source, IPV6_LENGTH);
  requireLength("ipv6.destination", destination, IPV6_LENGTH);
  requireRange("ipv6.protocol", protocol, 0, 0xff);
  requireRange("ipv6.trafficClass", trafficClass, 0, 0xff);
  requireRange("ipv6.flowLabel", flowLabel, 0, 0xf_ffff);
  requireRange("ipv6.hopLimit", hopLimit, 0, 0xff);
  requireRange("ipv6.extensionHeaders.length", extensionHeaders.length, 0, MAX_EXTENSION_HEADERS);
  const length = extensionHeaders.reduce((sum, header) => sum + header.bytes.length, payload.length);
  requireRange("ipv6.payload.length", length, 0, 0xffff);
  const writer = new Writer(HEADER_LENGTH + length)
    .u32(0x6000_0000 | (trafficClass << 20) | flowLabel)
    .u16(length)
    .u8(extensionHeaders[0]?.type ?? protocol)
    .u8(hopLimit)
    .put(source)
    .put(destination);
  for (const [index, { type, bytes }] of extensionHeaders.entries()) {
    if (!isExtensionHeader(type)) throw new PacketsError(`ipv6.extensionHeaders.${index}: ${type} is no extension header's type`);
    requireLength(`ipv6.extensionHeaders.${index}, by its second byte,`, bytes, extensionLength(type, bytes[1] ?? 0));
    writer.u8(extensionHeaders[index + 1]?.type ?? protocol).put(bytes.subarray(1));
  }
  return writer.put(payload).finish();
}

/** The header and its extensions up to the transport layer, with everything behind the payload length cut away. */
export function scanIpv6(reader: Reader, fields: FrameFields, each?: ExtensionVisitor): Malformed | null {
  const start = reader.offset;
  const version = reader.u8() >>> 4;
  reader.skip(3);
  const payloadLength = reader.u16();
  const nextHeader = reader.u8();
  const hopLimit = reader.u8();
  reader.skip(2 * IPV6_LENGTH);
  if (reader.failed) return reader.malformed("ipv6");
  if (version !== 6) return badValue("ipv6", start);
  // 0 is a jumbogram (RFC 2675), or what the sending host's own capture shows of a packet too large for the field.
  if (payloadLength !== 0 || reader.remaining <= 0xffff) {
    const stop = limitTo(reader, payloadLength, "ipv6", fields.isCut);
    if (stop) return stop;
  }
  fields.network = "ipv6";
  fields.sourceIpOffset = start + 8;
  fields.ipLength = IPV6_LENGTH;
  fields.ipProtocol = nextHeader;
  fields.hopLimit = hopLimit;
  fields.networkEnd = reader.end;
  fields.transportOffset = reader.offset;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.end;
  if (!isExtensionHeader(nextHeader)) return null;
  const stop = walkExtensions(reader, fields, each);
  if (stop) {
    fields.ipProtocol = nextHeader;
    return stop;
  }
  fields.transportOffset = reader.offset;
  fields.payloadOffset = reader.offset;
  return null;
}
