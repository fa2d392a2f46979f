import { ipv4Number } from "@lanthorn/packets";
import type { AddressBook } from "../address-book.ts";
import { wordAt } from "./frame-words.ts";
import { type HashKey, halfSipHash } from "./half-siphash.ts";

/** What came back of a TCP question, in nmap's words. */
export type TcpState = "open" | "closed" | "filtered";

/** A frame where the kernel wrote it; not kept. */
export interface FrameView {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** What distinguishes answers from other packets. */
export interface AnswerKey {
  readonly key: HashKey;
  readonly port: number;
  readonly book: Pick<AddressBook, "find">;
}

/** EtherType. @see https://www.iana.org/assignments/ieee-802-numbers */
export const IPV4 = 0x0800;
/** EtherType. @see https://www.iana.org/assignments/ieee-802-numbers */
export const IPV6 = 0x86dd;
/** IP protocol. @see https://www.iana.org/assignments/protocol-numbers */
export const TCP = 6;
/** IP protocol. @see https://www.iana.org/assignments/protocol-numbers */
export const UDP = 17;
/** IP protocol, of IPv4 alone. @see https://www.iana.org/assignments/protocol-numbers */
export const ICMP = 1;
/** IPv6 next header. @see https://www.iana.org/assignments/protocol-numbers */
export const ICMPV6 = 58;
/** Destination Unreachable. @see RFC 792, RFC 4443 section 3.1 */
export const UNREACHABLE = 3;
const UNREACHABLE6 = 1;
const SYN_ACK = 0x12;
const RST = 0x04;
/** Net, host, protocol, port, and the three that say "prohibited". @see RFC 1812 section 5.2.7.1 */
const FILTERED_CODES: ReadonlySet<number> = new Set([0, 1, 2, 3, 9, 10, 13]);
/** No route, prohibited, beyond scope, unreachable, port, policy, rejected. @see RFC 4443 section 3.1 */
const FILTERED_CODES6: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6]);

/** The sequence number of the SYN to a port of a host: only who saw it, or holds the key, can answer it. */
export function synCookie(key: HashKey, ip: number, port: number, ownPort: number): number {
  return halfSipHash(key, [ip, (port << 16) | ownPort]);
}

/**
 * Reads an answer to a SYN of ours. What does not prove by its cookie that it answers one is nothing.
 * @param take Told the host's number, port and state.
 */
export function readTcpAnswer(frame: FrameView, link: AnswerKey, take: (ip: number, port: number, state: TcpState) => void): void {
  const { bytes, offset, length } = frame;
  const { key, port: ownPort } = link;
  const at = payloadAt(frame);
  if (at < 0) return;
  const isIpv4 = wordAt(bytes, offset + 12) === IPV4;
  const protocol = protocolOf(frame);
  if (protocol === TCP && at + 20 <= offset + length) {
    if (wordAt(bytes, at + 2) !== ownPort) return;
    const ip = sourceNumber(frame, link.book);
    const port = wordAt(bytes, at);
    const acknowledged = (ipv4Number(bytes, at + 8) - 1) >>> 0;
    if (ip < 0 || acknowledged !== synCookie(key, ip, port, ownPort)) return;
    const flags = bytes[at + 13] as number;
    if ((flags & SYN_ACK) === SYN_ACK) take(ip, port, "open");
    else if ((flags & RST) !== 0) take(ip, port, "closed");
    return;
  }
  const about = isIpv4 ? readError(frame, at, protocol) : readError6(frame, at, protocol);
  if (!about || about.protocol !== TCP || wordAt(bytes, about.at) !== ownPort) return;
  if (!(isIpv4 ? FILTERED_CODES : FILTERED_CODES6).has(about.code)) return;
  const ip = isIpv4 ? ipv4Number(bytes, about.addressAt) : link.book.find(bytes, about.addressAt);
  const port = wordAt(bytes, about.at + 2);
  if (ip >= 0 && ipv4Number(bytes, about.at + 4) === synCookie(key, ip, port, ownPort)) take(ip, port, "filtered");
}

/** How much the sender of a SYN-ACK, as `readTcpAnswer` took it, receives before it acknowledges. @see RFC 9293 section 3.1 */
export function readTcpWindow(frame: FrameView): number {
  return wordAt(frame.bytes, payloadAt(frame) + 14);
}

/**
 * Where what the IP header and its extensions carry begins, at least eight octets of it; -1 for frames
 * of other protocols, and for fragments of IPv6 but the first.
 */
export function payloadAt(frame: FrameView): number {
  const { bytes, offset, length } = frame;
  if (length < 42) return -1;
  const etherType = wordAt(bytes, offset + 12);
  const at = etherType === IPV4 ? offset + 14 + ((bytes[offset + 14] as number) & 15) * 4 : behindExtensions(frame, "payload");
  return (etherType === IPV4 || etherType === IPV6) && at >= 0 && at + 8 <= offset + length ? at : -1;
}

/** The protocol of what begins at `payloadAt`, which must not be -1. */
export function protocolOf(frame: FrameView): number {
  const { bytes, offset } = frame;
  return bytes[wordAt(bytes, offset + 12) === IPV4 ? offset + 23 : behindExtensions(frame, "protocol")] as number;
}

const FRAGMENT = 44;
/** Hop-by-hop options, routing, fragment, destination options: what hosts put in front of an answer. @see RFC 8200 section 4 */
const EXTENSIONS: ReadonlySet<number> = new Set([0, 43, FRAGMENT, 60]);
const MAX_EXTENSIONS = 4;

/** Where the payload of IPv6 begins, or where the octet lies that names its protocol; -1 where neither can be known. */
function behindExtensions({ bytes, offset, length }: FrameView, what: "payload" | "protocol"): number {
  let named = offset + 20;
  let at = offset + 54;
  for (let count = 0; EXTENSIONS.has(bytes[named] as number); count += 1) {
    if (count === MAX_EXTENSIONS || at + 8 > offset + length) return -1;
    const isFragment = bytes[named] === FRAGMENT;
    if (isFragment && wordAt(bytes, at + 2) >= 8) return -1;
    named = at;
    at += isFragment ? 8 : (bytes[at + 1] as number) * 8 + 8;
  }
  return what === "payload" ? at : named;
}

/** The number of the address that a frame comes from, -1 for an IPv6 address that was not asked. */
export function sourceNumber({ bytes, offset }: FrameView, book: Pick<AddressBook, "find">): number {
  return wordAt(bytes, offset + 12) === IPV4 ? ipv4Number(bytes, offset + 26) : book.find(bytes, offset + 22);
}

/** What an ICMP error says of a packet of ours: where the address that it went to lies, and the first eight octets behind its header. */
export interface IcmpError {
  readonly code: number;
  readonly protocol: number;
  readonly addressAt: number;
  readonly at: number;
}

/** @see RFC 792 */
export function readError({ bytes, offset, length }: FrameView, at: number, protocol: number): IcmpError | null {
  const inner = at + 8;
  if (protocol !== ICMP || bytes[at] !== UNREACHABLE || inner + 20 > offset + length) return null;
  const innerAt = inner + ((bytes[inner] as number) & 15) * 4;
  if (innerAt + 8 > offset + length) return null;
  return { code: bytes[at + 1] as number, protocol: bytes[inner + 9] as number, addressAt: inner + 16, at: innerAt };
}

/** @see RFC 4443 section 3.1 */
export function readError6({ bytes, offset, length }: FrameView, at: number, protocol: number): IcmpError | null {
  const inner = at + 8;
  if (protocol !== ICMPV6 || bytes[at] !== UNREACHABLE6 || inner + 48 > offset + length) return null;
  return { code: bytes[at + 1] as number, protocol: bytes[inner + 6] as number, addressAt: inner + 24, at: inner + 40 };
}
