/**
 * Which protocol a TCP connection speaks, by the first bytes of either side; ports are not asked.
 */
import { latin1, mayStartWith, startsWith } from "../protocols/latin1.ts";
import { recognizeDnsOverTcp } from "./recognize-dns.ts";
import type { Verdict } from "./verdict.ts";

/** Protocols that have a parser, and some that are known by name only. */
export type StreamService =
  | "dns" | "ftp" | "http" | "http2" | "imap" | "pop3" | "smb" | "smtp" | "ssh" | "tls";

/** What is known by now: the protocol, nothing (`""`), or that more bytes may say it. */
export type Recognition = StreamService | "" | "more";

/** Bytes of each side that are looked at before it is given up. A greeting of many lines fits. */
export const MAX_RECOGNITION_BYTES = 2048;

const NO_BYTES = new Uint8Array(0);

/**
 * @param bytes All that one side has said so far.
 * @param other All that the other side has said so far; some greetings are the same in two protocols, and the answer is not.
 */
export function recognizeStream(bytes: Uint8Array, other: Uint8Array = NO_BYTES): Recognition {
  if (bytes.length === 0) return "more";
  let answer: Recognition = "";
  const candidates = other.length > 0 ? RECOGNIZERS : BY_FIRST_BYTE[bytes[0] as number] ?? RECOGNIZERS;
  for (const { service, recognize } of candidates) {
    const verdict = recognize(bytes, other);
    if (verdict === "yes") return service;
    if (verdict === "more") answer = "more";
  }
  return answer;
}

interface Recognizer {
  readonly service: StreamService;
  readonly recognize: (bytes: Uint8Array, other: Uint8Array) => Verdict;
}

/** In the order of asking: what is certain by few bytes comes first. */
const RECOGNIZERS: readonly Recognizer[] = [
  { service: "tls", recognize: recognizeTls },
  { service: "http2", recognize: (bytes) => byStart(bytes, "PRI * HTTP/2.0\r\n") },
  { service: "http", recognize: recognizeHttp },
  { service: "ssh", recognize: (bytes) => byStart(bytes, "SSH-") },
  { service: "smb", recognize: recognizeSmb },
  { service: "smtp", recognize: recognizeSmtp },
  { service: "ftp", recognize: recognizeFtp },
  { service: "pop3", recognize: (bytes) => byStart(bytes, "+OK ") },
  { service: "imap", recognize: (bytes) => byStart(bytes, "* OK ") },
  { service: "dns", recognize: recognizeDnsOverTcp },
];

function byStart(bytes: Uint8Array, text: string): Verdict {
  if (!mayStartWith(bytes, text)) return "no";
  return bytes.length < text.length ? "more" : "yes";
}

/** Of TLS 1.2, encrypted. RFC 5246 section 6.2.3. */
const MAX_TLS_RECORD = 0x4800;

/** A record of any type, so that a connection that was joined late is known too. @see RFC 8446 section 5.1 */
function recognizeTls(bytes: Uint8Array): Verdict {
  const [type = 0, major, minor] = bytes;
  if (type < 0x14 || type > 0x17) return "no";
  if (major !== undefined && major !== 3) return "no";
  if (minor !== undefined && minor > 4) return "no";
  if (bytes.length < 6) return "more";
  const length = ((bytes[3] as number) << 8) | (bytes[4] as number);
  return length === 0 || length > MAX_TLS_RECORD ? "no" : "yes";
}

const METHOD = /^[A-Z][A-Z-]{2,19} [^\s]/;
const REQUEST_LINE = /^[A-Z][A-Z-]{2,19} \S+ +HTTP\/1\.\d\r?$/;

/** @see RFC 9112 sections 3 and 4 */
function recognizeHttp(bytes: Uint8Array): Verdict {
  if (mayStartWith(bytes, "HTTP/1.")) return bytes.length < 8 ? "more" : "yes";
  const first = bytes[0] as number;
  if (first < 0x41 || first > 0x5a) return "no";
  const end = bytes.indexOf(0x0a);
  if (end >= 0) return REQUEST_LINE.test(latin1(bytes.subarray(0, end))) ? "yes" : "no";
  const head = latin1(bytes.subarray(0, 24));
  if (!METHOD.test(head) && (head.length > 21 || !/^[A-Z][A-Z-]{0,19} ?$/.test(head))) return "no";
  return bytes.length >= MAX_RECOGNITION_BYTES ? "yes" : "more";
}

/** Behind the header of NetBIOS or of direct TCP. @see MS-SMB2 section 2.1; RFC 1002 section 4.3 */
function recognizeSmb(bytes: Uint8Array): Verdict {
  if (bytes[0] === 0x81) {
    if (bytes.length >= 5) return bytes[1] === 0 && bytes[2] === 0 && bytes[3] === 0x44 && bytes[4] === 0x20 ? "yes" : "no";
    return "more";
  }
  if (bytes[0] !== 0) return "no";
  if (bytes.length >= 5 && (bytes[4] as number) < 0xfc) return "no";
  if (bytes.length < 8) return "more";
  return bytes[5] === 0x53 && bytes[6] === 0x4d && bytes[7] === 0x42 ? "yes" : "no";
}

const SMTP_COMMAND = /^(?:EHLO|HELO|LHLO) /i;
const FTP_COMMAND = /^(?:USER \S|PASS |AUTH (?:TLS|SSL)|FEAT\r|SYST\r|OPTS |TYPE |PASV\r|EPSV\r|CWD |PWD\r|QUIT\r)/i;

/** @see RFC 5321 sections 3.1 and 4.1.1.1 */
function recognizeSmtp(bytes: Uint8Array, other: Uint8Array): Verdict {
  if (isReply(bytes)) {
    if (SMTP_COMMAND.test(latin1(other.subarray(0, 5)))) return "yes";
    return other.length > 0 && FTP_COMMAND.test(latin1(other.subarray(0, 16))) ? "no" : greets(bytes, /\bE?SMTP\b/i);
  }
  const head = latin1(bytes.subarray(0, 5));
  if (SMTP_COMMAND.test(head)) return "yes";
  return bytes.length < 5 && ["EHLO ", "HELO ", "LHLO "].some((word) => word.startsWith(head.toUpperCase())) ? "more" : "no";
}

/** @see RFC 959 section 4 */
function recognizeFtp(bytes: Uint8Array, other: Uint8Array): Verdict {
  if (isReply(bytes)) {
    if (other.length > 0 && FTP_COMMAND.test(latin1(other.subarray(0, 16)))) return "yes";
    return greets(bytes, /\bFTPd?\b|FileZilla/i);
  }
  // A command alone may be POP3's too: the greeting of the other side decides.
  return startsWith(other, "220") && FTP_COMMAND.test(latin1(bytes.subarray(0, 16))) ? "yes" : "no";
}

/** Both protocols greet with 220, or refuse with 421 or 554. */
function isReply(bytes: Uint8Array): boolean {
  return mayStartWith(bytes, "220") || mayStartWith(bytes, "421") || mayStartWith(bytes, "554") || mayStartWith(bytes, "120");
}

function greets(bytes: Uint8Array, words: RegExp): Verdict {
  const mark = bytes[3];
  if (mark !== undefined && mark !== 0x20 && mark !== 0x2d) return "no";
  const end = bytes.lastIndexOf(0x0a);
  return end > 0 && words.test(latin1(bytes.subarray(0, end))) ? "yes" : "more";
}

/** Those that a first byte leaves, where the other side has said nothing: most bytes leave none. */
const BY_FIRST_BYTE: readonly (readonly Recognizer[])[] = Array.from({ length: 256 }, (_, byte) => {
  return RECOGNIZERS.filter(({ recognize }) => recognize(Uint8Array.of(byte), NO_BYTES) !== "no");
});
