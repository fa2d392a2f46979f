import { type IpEnds, transportChecksum } from "../checksum.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { FrameFields } from "../frame-fields.ts";
import { limitTo, requireRange } from "../limits.ts";
import { IP_PROTOCOL, LINK_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 768: User Datagram Protocol. */

const HEADER_LENGTH = 8;

/** One datagram; `payload` is a view of the captured frame. @see RFC 768 */
export interface UdpDatagram {
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** As it was on the wire; 0 means that the sender made none, which IPv4 allows. */
  readonly checksum: number;
  readonly payload: Uint8Array;
}

/** @param bytes A whole datagram, as `frame.transportBytes` gives it. @returns A view of `bytes`. */
export function decodeUdp(bytes: Uint8Array): Decoded<UdpDatagram> {
  const fields = new FrameFields(bytes, LINK_TYPE.rawIp, false);
  const stop = scanUdp(new Reader(bytes), fields);
  if (stop) return stop;
  const { sourcePort, destinationPort, payload } = fields;
  return decoded({ sourcePort, destinationPort, checksum: new Reader(bytes, 6).u16(), payload });
}

/** Fills length and checksum. @throws PacketsError for a port or length that has no encoding. */
export function encodeUdp(datagram: Omit<UdpDatagram, "checksum">, ends: IpEnds): Uint8Array {
  requireRange("udp.sourcePort", datagram.sourcePort, 0, 0xffff);
  requireRange("udp.destinationPort", datagram.destinationPort, 0, 0xffff);
  const length = HEADER_LENGTH + datagram.payload.length;
  requireRange("udp.length", length, HEADER_LENGTH, 0xffff);
  const writer = new Writer(length).u16(datagram.sourcePort).u16(datagram.destinationPort).u16(length).u16(0).put(datagram.payload);
  const bytes = writer.finish();
  // 0 would mean that there is none; its other spelling in ones' complement is all ones.
  writer.setU16(6, transportChecksum(bytes, IP_PROTOCOL.udp, ends) || 0xffff);
  return bytes;
}

/** Ports and length. The first of several fragments may be shorter than its length says. */
export function scanUdp(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const sourcePort = reader.u16();
  const destinationPort = reader.u16();
  const length = reader.u16();
  reader.skip(2);
  if (reader.failed) return reader.malformed("udp");
  if (length < HEADER_LENGTH) return badValue("udp", start + 4);
  const stop = limitTo(reader, length - HEADER_LENGTH, "udp", fields.isCut || fields.moreFragments);
  if (stop) return stop;
  fields.transport = "udp";
  fields.sourcePort = sourcePort;
  fields.destinationPort = destinationPort;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.end;
  return null;
}
