import { ipv4Number } from "@lanthorn/packets";
import { wordAt } from "./frame-words.ts";
import { type HashKey, halfSipHash } from "./half-siphash.ts";
import type { TcpSegment } from "./packet.ts";
import { type FrameView, ICMP, ICMPV6, IPV4, payloadAt, protocolOf, readError, readError6, TCP, UDP } from "./tcp-answers.ts";

/** What kind of answer shows a host: a firewall that answers for a network does so by TCP, and hardly ever by ICMP. */
export type SignKind = "icmp" | "tcp" | "udp";

const ECHO_REPLY = 0;
const TIMESTAMP_REPLY = 14;
const ECHO_REPLY6 = 129;
const SYN_ACK = 0x12;
const RST = 0x04;

/** The number that a question to an address carries, in as many bits as there is room for. @param size 4 or 16. */
export function addressCookie(
  { key, ownPort }: { readonly key: HashKey; readonly ownPort: number }, bytes: Uint8Array, at: number, size: number, port: number,
): number {
  const words = [(port << 16) | ownPort];
  for (let word = 0; word < size; word += 4) words.push(ipv4Number(bytes, at + word) | 0);
  return halfSipHash(key, words);
}

/** A sign of a host. */
export interface HostSign {
  /** Where in the frame's bytes its address begins. */
  readonly at: number;
  readonly size: 4 | 16;
  readonly kind: SignKind;
  /** The connection that it has half opened, and is to be reset; null where there is none. */
  readonly halfOpen: Pick<TcpSegment, "port" | "sequence"> | null;
}

/**
 * Reads a frame for the sign that a host is there which was asked by an echo or timestamp request, a SYN, an ACK or a datagram of ours.
 * What a router says of a host that it cannot reach is none.
 */
export function readHostSign(
  frame: FrameView,
  link: { readonly key: HashKey; readonly port: number },
  take: (sign: HostSign) => void,
): void {
  const { bytes, offset, length } = frame;
  const at = payloadAt(frame);
  if (at < 0) return;
  const isIpv4 = wordAt(bytes, offset + 12) === IPV4;
  const [addressAt, size] = isIpv4 ? ([offset + 26, 4] as const) : ([offset + 22, 16] as const);
  const protocol = protocolOf(frame);
  const cookie = (port: number) => addressCookie({ key: link.key, ownPort: link.port }, bytes, addressAt, size, port);
  if (protocol === TCP) {
    if (at + 20 > offset + length || wordAt(bytes, at + 2) !== link.port) return;
    const flags = bytes[at + 13] as number;
    const proof = cookie(wordAt(bytes, at));
    // To an ACK the answer is a RST that begins where we acknowledged. @see RFC 9293 section 3.5.2
    const next = (proof + 1) >>> 0;
    const isOpen = (flags & SYN_ACK) === SYN_ACK;
    const isToSyn = ipv4Number(bytes, at + 8) === next && (isOpen || (flags & RST) !== 0);
    if (!isToSyn && ((flags & RST) === 0 || ipv4Number(bytes, at + 4) !== proof)) return;
    take({ at: addressAt, size, kind: "tcp", halfOpen: isOpen ? { port: wordAt(bytes, at), sequence: next } : null });
    return;
  }
  if (protocol === UDP) {
    if (wordAt(bytes, at + 2) === link.port) take({ at: addressAt, size, kind: "udp", halfOpen: null });
    return;
  }
  const isAnswer = isIpv4
    ? protocol === ICMP && (bytes[at] === ECHO_REPLY || bytes[at] === TIMESTAMP_REPLY)
    : protocol === ICMPV6 && bytes[at] === ECHO_REPLY6;
  if (isAnswer) {
    if (wordAt(bytes, at + 4) === link.port && wordAt(bytes, at + 6) === (cookie(0) & 0xffff)) {
      take({ at: addressAt, size, kind: "icmp", halfOpen: null });
    }
    return;
  }
  const about = isIpv4 ? readError(frame, at, protocol) : readError6(frame, at, protocol);
  if (!about || wordAt(bytes, about.at) !== link.port || (about.protocol !== TCP && about.protocol !== UDP)) return;
  // Only the host itself says so of itself.
  for (let index = 0; index < size; index += 1) if (bytes[about.addressAt + index] !== bytes[addressAt + index]) return;
  take({ at: addressAt, size, kind: "icmp", halfOpen: null });
}
