import { type IpEnds, transportChecksum } from "../checksum.ts";
import { badValue, decoded, type Decoded, type Malformed } from "../decoded.ts";
import { FrameFields } from "../frame-fields.ts";
import { requireRange } from "../limits.ts";
import { IP_PROTOCOL, LINK_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import { decodeTcpOptions, encodeTcpOptions, type TcpOption } from "./tcp-options.ts";
import { Writer } from "../writer.ts";

/** RFC 9293: Transmission Control Protocol. */

const MIN_HEADER_LENGTH = 20;

/** Bits of `flags`. The ninth is Accurate ECN's. @see https://www.iana.org/assignments/tcp-parameters */
export const TCP_FLAG = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08, ack: 0x10, urg: 0x20, ece: 0x40, cwr: 0x80, ae: 0x100 } as const;

/** One segment; bytes are views of the captured frame. @see RFC 9293 section 3.1 */
export interface TcpSegment {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sequenceNumber: number;
  readonly acknowledgmentNumber: number;
  /** Bits of TCP_FLAG. */
  readonly flags: number;
  /** As sent, without window scale. */
  readonly window: number;
  /** As it was on the wire, right or wrong. */
  readonly checksum: number;
  readonly urgentPointer: number;
  /** In wire order, no-operations among them: their order tells systems apart. */
  readonly options: readonly TcpOption[];
  readonly payload: Uint8Array;
}

/** @param bytes A whole segment, as `frame.transportBytes` gives it. @returns Views of `bytes`. */
export function decodeTcp(bytes: Uint8Array): Decoded<TcpSegment> {
  const fields = new FrameFields(bytes, LINK_TYPE.rawIp, false);
  const stop = scanTcp(new Reader(bytes), fields);
  if (stop) return stop;
  const options = decodeTcpOptions(bytes.subarray(MIN_HEADER_LENGTH, fields.payloadOffset));
  if (!options.ok) return { ...options, offset: options.offset + MIN_HEADER_LENGTH };
  const reader = new Reader(bytes, 4);
  const sequenceNumber = reader.u32();
  const acknowledgmentNumber = reader.u32();
  reader.skip(2);
  return decoded({
    sourcePort: fields.sourcePort,
    destinationPort: fields.destinationPort,
    sequenceNumber,
    acknowledgmentNumber,
    flags: fields.tcpFlags,
    window: reader.u16(),
    checksum: reader.u16(),
    urgentPointer: reader.u16(),
    options: options.value,
    payload: fields.payload,
  });
}

/** What is needed of a segment; the rest is 0 and empty. */
export type TcpFields = Pick<TcpSegment, "sourcePort" | "destinationPort" | "flags"> & Partial<Omit<TcpSegment, "checksum">>;

/** Fills header length and checksum. @throws PacketsError for a field that has no encoding. */
export function encodeTcp(segment: TcpFields, ends: IpEnds): Uint8Array {
  const { sourcePort, destinationPort, flags, sequenceNumber = 0, acknowledgmentNumber = 0, window = 0, urgentPointer = 0 } = segment;
  requireRange("tcp.sourcePort", sourcePort, 0, 0xffff);
  requireRange("tcp.destinationPort", destinationPort, 0, 0xffff);
  requireRange("tcp.sequenceNumber", sequenceNumber, 0, 0xffff_ffff);
  requireRange("tcp.acknowledgmentNumber", acknowledgmentNumber, 0, 0xffff_ffff);
  requireRange("tcp.flags", flags, 0, 0x1ff);
  requireRange("tcp.window", window, 0, 0xffff);
  requireRange("tcp.urgentPointer", urgentPointer, 0, 0xffff);
  const options = encodeTcpOptions(segment.options ?? []);
  const payload = segment.payload ?? new Uint8Array(0);
  const headerLength = MIN_HEADER_LENGTH + options.length;
  const writer = new Writer(headerLength + payload.length)
    .u16(sourcePort)
    .u16(destinationPort)
    .u32(sequenceNumber)
    .u32(acknowledgmentNumber)
    .u16(((headerLength / 4) << 12) | flags)
    .u16(window)
    .u16(0)
    .u16(urgentPointer)
    .put(options)
    .put(payload);
  const bytes = writer.finish();
  writer.setU16(16, transportChecksum(bytes, IP_PROTOCOL.tcp, ends));
  return bytes;
}

/** Ports, flags and header length; options are left for `decodeTcp`. */
export function scanTcp(reader: Reader, fields: FrameFields): Malformed | null {
  const start = reader.offset;
  const sourcePort = reader.u16();
  const destinationPort = reader.u16();
  reader.skip(8);
  const lengthAndFlags = reader.u16();
  reader.skip(6);
  if (reader.failed) return reader.malformed("tcp");
  const headerLength = (lengthAndFlags >>> 12) * 4;
  if (headerLength < MIN_HEADER_LENGTH) return badValue("tcp", start + 12);
  reader.skip(headerLength - MIN_HEADER_LENGTH);
  if (reader.failed) return reader.malformed("tcp");
  fields.transport = "tcp";
  fields.sourcePort = sourcePort;
  fields.destinationPort = destinationPort;
  fields.tcpFlags = lengthAndFlags & 0x1ff;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.end;
  return null;
}
