import { IPV4_LENGTH } from "../addresses.ts";
import { internetChecksum } from "../checksum.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { FrameFields } from "../frame-fields.ts";
import { limitTo, requireLength, requireRange } from "../limits.ts";
import { LINK_TYPE } from "../numbers.ts";
import { walkAuthentication } from "./ipv6-extensions.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 791: Internet Protocol. */

const MIN_HEADER_LENGTH = 20;
const MAX_OPTIONS_LENGTH = 40;
const DEFAULT_TIME_TO_LIVE = 64;

/** A packet or a fragment of one. Bytes are views of the captured frame. @see RFC 791 section 3.1 */
export interface Ipv4Packet {
  /** DSCP and ECN. @see RFC 3168 section 5 */
  readonly typeOfService: number;
  readonly identification: number;
  readonly dontFragment: boolean;
  readonly moreFragments: boolean;
  /** In bytes, a multiple of 8; above 0 the payload begins in the middle of something. */
  readonly fragmentOffset: number;
  readonly timeToLive: number;
  readonly protocol: number;
  /** As it was on the wire, right or wrong; `internetChecksum` of the header's bytes is 0 when it is right. */
  readonly headerChecksum: number;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  /** With their padding, a multiple of 4 bytes, at most 40. */
  readonly options: Uint8Array;
  /** Up to the total length: no Ethernet padding. */
  readonly payload: Uint8Array;
}

/**
 * One packet as its header tells it: of protocol 51 the payload begins with the authentication header.
 * @param bytes From the version on; what lies behind the total length is ignored.
 * @returns Views of `bytes`.
 */
export function decodeIpv4(bytes: Uint8Array): Decoded<Ipv4Packet> {
  const fields = new FrameFields(bytes, LINK_TYPE.rawIpv4, false);
  const stop = scanIpv4(new Reader(bytes), fields);
  if (stop) return stop;
  const reader = new Reader(bytes, 1);
  const typeOfService = reader.u8();
  reader.skip(2);
  const identification = reader.u16();
  const dontFragment = (reader.u16() & 0x4000) !== 0;
  reader.skip(2);
  return decoded({
    typeOfService,
    identification,
    dontFragment,
    moreFragments: fields.moreFragments,
    fragmentOffset: fields.fragmentOffset,
    timeToLive: fields.hopLimit,
    protocol: fields.ipProtocol,
    headerChecksum: reader.u16(),
    source: reader.take(IPV4_LENGTH),
    destination: reader.take(IPV4_LENGTH),
    options: reader.take(fields.transportOffset - MIN_HEADER_LENGTH),
    payload: fields.payload,
  });
}

/** What is needed of a packet; the rest is 0, false, empty, and 64 hops. */
export type Ipv4Fields = Pick<Ipv4Packet, "protocol" | "source" | "destination" | "payload"> & Partial<Omit<Ipv4Packet, "headerChecksum">>;

/** Fills total length and checksum. @throws PacketsError for a field that has no encoding. */
export function encodeIpv4(packet: Ipv4Fields): Uint8Array {
  const { source, destination, payload, protocol, options = new Uint8Array(0), fragmentOffset = 0 } = packet;
  const { typeOfService = 0, identification = 0, timeToLive = DEFAULT_TIME_TO_LIVE } = packet;
  requireLength("ipv4.source", source, IPV4_LENGTH);
  requireLength("ipv4.destination", destination, IPV4_LENGTH);
  requireRange("ipv4.options.length", options.length, 0, MAX_OPTIONS_LENGTH);
  requireRange("ipv4.options.length / 4", options.length / 4, 0, MAX_OPTIONS_LENGTH / 4);
  requireRange("ipv4.fragmentOffset / 8", fragmentOffset / 8, 0, 0x1fff);
  requireRange("ipv4.typeOfService", typeOfService, 0, 0xff);
  requireRange("ipv4.identification", identification, 0, 0xffff);
  requireRange("ipv4.protocol", protocol, 0, 0xff);
  requireRange("ipv4.timeToLive", timeToLive, 0, 0xff);
  const headerLength = MIN_HEADER_LENGTH + options.length;
  requireRange("ipv4.payload.length", payload.length, 0, 0xffff - headerLength);
  const writer = new Writer(headerLength + payload.length)
    .u8(0x40 | (headerLength / 4))
    .u8(typeOfService)
    .u16(headerLength + payload.length)
    .u16(identification)
    .u16((packet.dontFragment ? 0x4000 : 0) | (packet.moreFragments ? 0x2000 : 0) | (fragmentOffset / 8))
    .u8(timeToLive)
    .u8(protocol)
    .u16(0)
    .put(source)
    .put(destination)
    .put(options)
    .put(payload);
  const bytes = writer.finish();
  writer.setU16(10, internetChecksum(bytes, 0, headerLength));
  return bytes;
}

/** The header up to the transport layer, with everything behind the total length cut away. */
export function scanIpv4(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const versionAndLength = reader.u8();
  reader.skip(1);
  const totalLength = reader.u16();
  reader.skip(2);
  const fragment = reader.u16();
  const timeToLive = reader.u8();
  const protocol = reader.u8();
  reader.skip(2 + 2 * IPV4_LENGTH);
  if (reader.failed) return reader.malformed("ipv4");
  const headerLength = (versionAndLength & 0x0f) * 4;
  if (versionAndLength >>> 4 !== 4 || headerLength < MIN_HEADER_LENGTH) return badValue("ipv4", start);
  reader.skip(headerLength - MIN_HEADER_LENGTH);
  if (reader.failed) return reader.malformed("ipv4");
  // 0 is what the sending host's own capture shows of a packet that its network card will cut into segments and give their lengths.
  if (totalLength !== 0) {
    if (totalLength < headerLength) return badValue("ipv4", start + 2);
    const stop = limitTo(reader, totalLength - headerLength, "ipv4", fields.isCut);
    if (stop) return stop;
  }
  fields.network = "ipv4";
  fields.sourceIpOffset = start + 12;
  fields.ipLength = IPV4_LENGTH;
  fields.ipProtocol = protocol;
  fields.hopLimit = timeToLive;
  fields.fragmentOffset = (fragment & 0x1fff) * 8;
  fields.moreFragments = (fragment & 0x2000) !== 0;
  fields.transportOffset = reader.offset;
  fields.networkEnd = reader.end;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.end;
  return null;
}

/**
 * Goes on behind the authentication headers of a packet that `scanIpv4` has read, to what they protect. Their lengths count in
 * four bytes, as over IPv6.
 * @see RFC 4302 section 2.2
 */
export function scanIpv4Authentication(reader: Reader, fields: FrameFields): Malformed | null {
  const stop = walkAuthentication(reader, fields);
  if (stop) return stop;
  fields.transportOffset = reader.offset;
  fields.payloadOffset = reader.offset;
  return null;
}
