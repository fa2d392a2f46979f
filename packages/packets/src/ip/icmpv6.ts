import { type IpEnds, transportChecksum } from "../checksum.ts";
import { decoded, type Decoded } from "../decoded.ts";
import { requireRange } from "../limits.ts";
import { isMldType, type MldMessage, readMld, writeMld } from "./mld.ts";
import { checkNdpCode, isNdpType, type NdpMessage, readNdp, writeNdp } from "./ndp.ts";
import { IP_PROTOCOL } from "../numbers.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 4443: Internet Control Message Protocol for IPv6; Neighbor Discovery is in ndp.ts, Multicast Listener Discovery in mld.ts. */

/** @see https://www.iana.org/assignments/icmpv6-parameters */
export const ICMPV6_TYPE = {
  destinationUnreachable: 1,
  packetTooBig: 2,
  timeExceeded: 3,
  parameterProblem: 4,
  echoRequest: 128,
  echoReply: 129,
} as const;

/** Echo, errors, Neighbor Discovery and Multicast Listener Discovery are decoded; every other type keeps its bytes. */
export type Icmpv6Message = Icmpv6Echo | Icmpv6Error | NdpMessage | MldMessage | Icmpv6Other;

/** A request and its reply have the same identifier, sequence number and data. @see RFC 4443 section 4 */
export interface Icmpv6Echo {
  readonly kind: "echo-request" | "echo-reply";
  readonly identifier: number;
  readonly sequenceNumber: number;
  readonly data: Uint8Array;
}

/** A report that a packet was not delivered. @see RFC 4443 section 3 */
export interface Icmpv6Error {
  readonly kind: "error";
  /** 1 to 4: destination unreachable, packet too big, time exceeded, parameter problem. */
  readonly type: number;
  readonly code: number;
  /** The four bytes behind the checksum: an MTU, a pointer, or nothing. */
  readonly parameter: number;
  /** The beginning of the packet that caused it; `decodeIpv6` finds it truncated by nature. */
  readonly original: Uint8Array;
}

/** A message of a type that is not decoded. */
export interface Icmpv6Other {
  readonly kind: "other";
  readonly type: number;
  readonly code: number;
  /** Everything behind the checksum. */
  readonly body: Uint8Array;
}

/** @param bytes A whole message, as `frame.transportBytes` gives it. @returns Views of `bytes`; the checksum is not checked. */
export function decodeIcmpv6(bytes: Uint8Array): Decoded<Icmpv6Message> {
  const reader = new Reader(bytes);
  const type = reader.u8();
  const code = reader.u8();
  reader.skip(2);
  if (isNdpType(type) && !reader.failed) return checkNdpCode(code) ?? readNdp(reader, type);
  if (isMldType(type) && !reader.failed) return readMld(reader, type);
  const message = readBody(reader, type, code);
  return reader.failed ? reader.malformed("icmpv6") : decoded(message);
}

function readBody(reader: Reader, type: number, code: number): Icmpv6Message {
  switch (type) {
    case ICMPV6_TYPE.echoRequest:
    case ICMPV6_TYPE.echoReply: {
      const kind = type === ICMPV6_TYPE.echoRequest ? "echo-request" : "echo-reply";
      return { kind, identifier: reader.u16(), sequenceNumber: reader.u16(), data: reader.rest() };
    }
    case ICMPV6_TYPE.destinationUnreachable:
    case ICMPV6_TYPE.packetTooBig:
    case ICMPV6_TYPE.timeExceeded:
    case ICMPV6_TYPE.parameterProblem:
      return { kind: "error", type, code, parameter: reader.u32(), original: reader.rest() };
    default:
      return { kind: "other", type, code, body: reader.rest() };
  }
}

/** Fills the checksum, which covers both addresses. @throws PacketsError for a field that has no encoding. */
export function encodeIcmpv6(message: Icmpv6Message, ends: IpEnds): Uint8Array {
  const writer = new Writer(96);
  switch (message.kind) {
    case "echo-request":
    case "echo-reply":
      requireRange("icmpv6.identifier", message.identifier, 0, 0xffff);
      requireRange("icmpv6.sequenceNumber", message.sequenceNumber, 0, 0xffff);
      writer.u8(message.kind === "echo-request" ? ICMPV6_TYPE.echoRequest : ICMPV6_TYPE.echoReply).zeros(3);
      writer.u16(message.identifier).u16(message.sequenceNumber).put(message.data);
      break;
    case "error":
      writeTypeAndCode(writer, message);
      requireRange("icmpv6.parameter", message.parameter, 0, 0xffff_ffff);
      writer.u32(message.parameter).put(message.original);
      break;
    case "other":
      writeTypeAndCode(writer, message);
      writer.put(message.body);
      break;
    case "router-solicitation":
    case "router-advertisement":
    case "neighbor-solicitation":
    case "neighbor-advertisement":
    case "redirect":
      writeNdp(writer, message);
      break;
    case "mld-query":
    case "mld-report":
    case "mld-done":
    case "mld-version-2-report":
      writeMld(writer, message);
  }
  const bytes = writer.finish();
  writer.setU16(2, transportChecksum(bytes, IP_PROTOCOL.icmpv6, ends));
  return bytes;
}

function writeTypeAndCode(writer: Writer, message: Icmpv6Error | Icmpv6Other): void {
  requireRange("icmpv6.type", message.type, 0, 0xff);
  requireRange("icmpv6.code", message.code, 0, 0xff);
  writer.u8(message.type).u8(message.code).u16(0);
}
