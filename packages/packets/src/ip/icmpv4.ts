import { internetChecksum } from "../checksum.ts";
import { decoded, type Decoded, type Malformed } from "../decoded.ts";
import type { FrameFields } from "../frame-fields.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 792: Internet Control Message Protocol. */

/** @see https://www.iana.org/assignments/icmp-parameters */
export const ICMPV4_TYPE = {
  echoReply: 0,
  destinationUnreachable: 3,
  sourceQuench: 4,
  redirect: 5,
  echoRequest: 8,
  timeExceeded: 11,
  parameterProblem: 12,
} as const;

/** Echo and errors are decoded; every other type keeps its bytes. */
export type Icmpv4Message = Icmpv4Echo | Icmpv4Error | Icmpv4Other;

/** A request and its reply have the same identifier, sequence number and data. @see RFC 792, "Echo or Echo Reply Message" */
export interface Icmpv4Echo {
  readonly kind: "echo-request" | "echo-reply";
  readonly identifier: number;
  readonly sequenceNumber: number;
  readonly data: Uint8Array;
}

/** A report that a packet was not delivered. @see RFC 792 */
export interface Icmpv4Error {
  readonly kind: "error";
  /** One of destination unreachable, source quench, redirect, time exceeded, parameter problem. */
  readonly type: number;
  readonly code: number;
  /** The four bytes behind the checksum: a gateway's address, a pointer, the next hop's MTU, or nothing. */
  readonly parameter: number;
  /** The beginning of the packet that caused it; `decodeIpv4` finds it truncated by nature. */
  readonly original: Uint8Array;
}

/** A message of a type that is not decoded, as timestamp or router advertisement. */
export interface Icmpv4Other {
  readonly kind: "other";
  readonly type: number;
  readonly code: number;
  /** Everything behind the checksum. */
  readonly body: Uint8Array;
}

/** @param bytes A whole message, as `frame.transportBytes` gives it. @returns Views of `bytes`; the checksum is not checked. */
export function decodeIcmpv4(bytes: Uint8Array): Decoded<Icmpv4Message> {
  const reader = new Reader(bytes);
  const type = reader.u8();
  const code = reader.u8();
  reader.skip(2);
  const message = readBody(reader, type, code);
  return reader.failed ? reader.malformed("icmpv4") : decoded(message);
}

function readBody(reader: Reader, type: number, code: number): Icmpv4Message {
  switch (type) {
    case ICMPV4_TYPE.echoRequest:
    case ICMPV4_TYPE.echoReply: {
      const kind = type === ICMPV4_TYPE.echoRequest ? "echo-request" : "echo-reply";
      return { kind, identifier: reader.u16(), sequenceNumber: reader.u16(), data: reader.rest() };
    }
    case ICMPV4_TYPE.destinationUnreachable:
    case ICMPV4_TYPE.sourceQuench:
    case ICMPV4_TYPE.redirect:
    case ICMPV4_TYPE.timeExceeded:
    case ICMPV4_TYPE.parameterProblem:
      return { kind: "error", type, code, parameter: reader.u32(), original: reader.rest() };
    default:
      return { kind: "other", type, code, body: reader.rest() };
  }
}

/** Fills the checksum. @throws PacketsError for a field that has no encoding. */
export function encodeIcmpv4(message: Icmpv4Message): Uint8Array {
  const writer = new Writer(64);
  if (message.kind === "error" || message.kind === "other") {
    requireRange("icmpv4.type", message.type, 0, 0xff);
    requireRange("icmpv4.code", message.code, 0, 0xff);
    writer.u8(message.type).u8(message.code).u16(0);
    if (message.kind === "error") {
      requireRange("icmpv4.parameter", message.parameter, 0, 0xffff_ffff);
      writer.u32(message.parameter).put(message.original);
    } else writer.put(message.body);
  } else {
    requireRange("icmpv4.identifier", message.identifier, 0, 0xffff);
    requireRange("icmpv4.sequenceNumber", message.sequenceNumber, 0, 0xffff);
    writer.u8(message.kind === "echo-request" ? ICMPV4_TYPE.echoRequest : ICMPV4_TYPE.echoReply).u8(0).u16(0);
    writer.u16(message.identifier).u16(message.sequenceNumber).put(message.data);
  }
  const bytes = writer.finish();
  writer.setU16(2, internetChecksum(bytes));
  return bytes;
}

/** Type and code, of either version: they begin alike. */
export function scanIcmp(reader: Reader, fields: FrameFields, version: "icmpv4" | "icmpv6"): Malformed | null {
  const type = reader.u8();
  const code = reader.u8();
  reader.skip(2);
  if (reader.failed) return reader.malformed(version);
  fields.transport = version;
  fields.icmpType = type;
  fields.icmpCode = code;
  fields.payloadOffset = reader.offset;
  fields.payloadEnd = reader.end;
  return null;
}
