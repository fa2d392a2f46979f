import { badValue, decoded, type Decoded } from "../decoded.ts";
import type { FrameFields } from "../frame-fields.ts";
import { ETHER_TYPE } from "../numbers.ts";
import { Reader } from "../reader.ts";
import type { Envelope } from "../tunnels/envelope.ts";

/** RFC 4380: Teredo, IPv6 inside of UDP over IPv4. */

/** UDP port of servers and relays. @see RFC 4380 section 2.7 */
export const TEREDO_PORT = 3544;

const AUTHENTICATION = 0x0001;
const ORIGIN = 0x0000;
const IPV6_HEADER_LENGTH = 40;

/** What a Teredo datagram carries. */
export interface TeredoPacket {
  readonly hasAuthentication: boolean;
  readonly hasOrigin: boolean;
  /** The IPv6 packet from its first byte, a view. */
  readonly packet: Uint8Array;
}

/**
 * @param bytes The datagram's payload.
 * @returns `bad-value` for what carries no whole IPv6 packet: other protocols use the port as a random one.
 * @see RFC 4380 section 5.1.1
 */
export function decodeTeredo(bytes: Uint8Array): Decoded<TeredoPacket> {
  const reader = new Reader(bytes);
  const head = readTeredoHead(reader);
  if (reader.failed) return reader.malformed("teredo");
  const start = reader.offset;
  const version = reader.u8() >>> 4;
  reader.skip(3);
  const length = reader.u16();
  reader.skip(IPV6_HEADER_LENGTH - 6);
  if (reader.failed) return reader.malformed("teredo");
  if (version !== 6) return badValue("teredo", start);
  if (reader.remaining !== length) return badValue("teredo", start + 4);
  return decoded({ ...head, packet: bytes.subarray(start) });
}

/**
 * Goes on to the IPv6 packet of a datagram, of which a snap length may have cut the end.
 * @returns Null for what carries none.
 */
export function readTeredo(reader: Reader, outer: Readonly<FrameFields>): Envelope | null {
  readTeredoHead(reader);
  const inside = new Reader(reader.bytes, reader.offset, reader.end);
  const version = inside.u8() >>> 4;
  inside.skip(3);
  const length = inside.u16();
  inside.skip(IPV6_HEADER_LENGTH - 6);
  if (reader.failed || inside.failed || version !== 6) return null;
  const isWhole = outer.isCut ? inside.remaining <= length : inside.remaining === length;
  return isWhole ? { kind: "teredo", etherType: ETHER_TYPE.ipv6 } : null;
}

function readTeredoHead(reader: Reader): { readonly hasAuthentication: boolean; readonly hasOrigin: boolean } {
  let [hasAuthentication, hasOrigin] = [false, false];
  if (peek(reader) === AUTHENTICATION) {
    reader.skip(2);
    const [clientLength, valueLength] = [reader.u8(), reader.u8()];
    reader.skip(clientLength + valueLength + 9);
    hasAuthentication = true;
  }
  if (peek(reader) === ORIGIN) {
    reader.skip(8);
    hasOrigin = true;
  }
  return { hasAuthentication, hasOrigin };
}

function peek(reader: Reader): number {
  return new Reader(reader.bytes, reader.offset, reader.end).u16();
}
