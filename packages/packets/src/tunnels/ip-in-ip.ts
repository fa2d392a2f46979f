import type { Envelope } from "./envelope.ts";
import type { FrameFields } from "../frame-fields.ts";
import { ETHER_TYPE } from "../numbers.ts";
import type { Reader } from "../reader.ts";

/** A packet that follows the header of another one: RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (either in IPv6). */

/** @returns The inner IPv4 packet. */
export function readInnerIpv4(_reader: Reader, outer: Readonly<FrameFields>): Envelope {
  return { kind: outer.network === "ipv4" ? "ipip" : "4in6", etherType: ETHER_TYPE.ipv4 };
}

/** @returns The inner IPv6 packet. */
export function readInnerIpv6(_reader: Reader, outer: Readonly<FrameFields>): Envelope {
  return { kind: outer.network === "ipv4" ? "6in4" : "6in6", etherType: ETHER_TYPE.ipv6 };
}
