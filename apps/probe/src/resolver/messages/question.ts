/** What is asked of an upstream server: only what it must know of the client's query. @see RFC 1035 section 4.1, RFC 9520 */
import { DNS_TYPE } from "@lanthorn/packets";

/** One question of class IN. */
export interface Question {
  /** As on the wire, in lower case, with the root's byte at the end. */
  readonly name: Uint8Array;
  readonly type: number;
  readonly isDnssecOk: boolean;
  readonly isCheckingDisabled: boolean;
}

/** What is chosen for each sending of a question. */
export interface Sending {
  readonly id: number;
  /** Letters whose bit here is set are sent as capitals: who answers without seeing the query must guess them too. Empty: none. */
  readonly caseBits: Uint8Array;
  /** 8 bytes of ours, and behind them what the server gave; null for none. RFC 7873. */
  readonly cookie: Uint8Array | null;
}

/** Larger datagrams are fragmented on some paths. @see https://www.dnsflagday.net/2020/ */
export const UDP_PAYLOAD_SIZE = 1232;

const HEADER_LENGTH = 12;
const OPT_LENGTH = 11;
const COOKIE = 10;
const FLAG = { recursionDesired: 0x0100, authenticData: 0x0020, checkingDisabled: 0x0010 } as const;
const DNSSEC_OK = 0x8000;
const IS_RESPONSE = 0x8000;

/**
 * @returns A whole message. AD is set: the server may say what it has verified (RFC 6840 section 5.7). Nothing of the client's own options
 * goes on: not its subnet, not its cookie.
 */
export function encodeQuestion({ name, type, isDnssecOk, isCheckingDisabled }: Question, { id, caseBits, cookie }: Sending): Buffer {
  const questionEnd = HEADER_LENGTH + name.length + 4;
  const message = Buffer.alloc(questionEnd + OPT_LENGTH + (cookie ? 4 + cookie.length : 0));
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(FLAG.recursionDesired | FLAG.authenticData | (isCheckingDisabled ? FLAG.checkingDisabled : 0), 2);
  message.writeUInt16BE(1, 4);
  message.writeUInt16BE(1, 10);
  message.set(name, HEADER_LENGTH);
  mixCase(message, HEADER_LENGTH, HEADER_LENGTH + name.length, caseBits);
  message.writeUInt16BE(type, questionEnd - 4);
  message.writeUInt16BE(1, questionEnd - 2);
  message.writeUInt16BE(DNS_TYPE.opt, questionEnd + 1);
  message.writeUInt16BE(UDP_PAYLOAD_SIZE, questionEnd + 3);
  message.writeUInt32BE(isDnssecOk ? DNSSEC_OK : 0, questionEnd + 5);
  if (cookie) {
    message.writeUInt16BE(4 + cookie.length, questionEnd + 9);
    message.writeUInt16BE(COOKIE, questionEnd + OPT_LENGTH);
    message.writeUInt16BE(cookie.length, questionEnd + OPT_LENGTH + 2);
    message.set(cookie, questionEnd + OPT_LENGTH + 4);
  }
  return message;
}

function mixCase(message: Uint8Array, start: number, end: number, bits: Uint8Array): void {
  if (bits.length === 0) return;
  for (let label = start; label < end; label += 1 + (message[label] as number)) {
    const labelEnd = label + 1 + (message[label] as number);
    for (let at = label + 1; at < labelEnd; at += 1) {
      const isCapital = ((bits[(at >>> 3) % bits.length] as number) >>> (at & 7)) & 1;
      if (isCapital === 1 && isLowerLetter(message[at] as number)) message[at] = (message[at] as number) - 0x20;
    }
  }
}

function isLowerLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

/**
 * Whether a message answers the one that was sent: its id, and its question byte by byte.
 * @returns `other-case` where only the case of letters differs.
 */
export function compareQuestion(sent: Uint8Array, received: Uint8Array, questionEnd: number): "same" | "other-case" | "other" {
  if (received.length < questionEnd || received[0] !== sent[0] || received[1] !== sent[1]) return "other";
  const flags = ((received[2] as number) << 8) | (received[3] as number);
  if ((flags & IS_RESPONSE) === 0 || received[4] !== 0 || received[5] !== 1) return "other";
  let isSameCase = true;
  for (let at = HEADER_LENGTH; at < questionEnd; at += 1) {
    const [one, other] = [sent[at] as number, received[at] as number];
    if (one === other) continue;
    // Lengths of labels are below 0x40, so a byte that differs in this one bit only is a letter in both, or the question is another one.
    if ((one ^ other) !== 0x20 || !isLowerLetter(one | 0x20) || at >= questionEnd - 4) return "other";
    isSameCase = false;
  }
  return isSameCase ? "same" : "other-case";
}

/** @returns Where the question of a message that `encodeQuestion` made ends. */
export function questionEndOf(name: Uint8Array): number {
  return HEADER_LENGTH + name.length + 4;
}
