/** Responses to clients, written byte by byte: this is what a busy resolver does most. @see RFC 1035 section 4.1, RFC 6891 section 6.2 */
import { DNS_TYPE, type DnsQuery } from "@lanthorn/packets";
import type { Answer } from "./answer.ts";
import { UDP_PAYLOAD_SIZE } from "./question.ts";

/** Why an answer is what it is, for people. @see RFC 8914, https://www.iana.org/assignments/dns-parameters */
export interface ExtendedError {
  readonly code: number;
  /** At most 100 characters of ASCII. */
  readonly text: string;
}

/** @see RFC 8914 section 4 */
export const EXTENDED_ERROR = { stale: 3, staleNxdomain: 19, notReady: 14, networkError: 23 } as const;

/** What a response holds besides its records. */
export interface ResponseOptions {
  /** Whole seconds since the answer came. */
  readonly ageSeconds: number;
  /** Every record gets this TTL; null for what is left of its own. */
  readonly fixedTtlSeconds: number | null;
  readonly extendedError: ExtendedError | null;
  /** The client's 8 bytes and ours, where it sent some. */
  readonly cookie: Uint8Array | null;
  /** Of the transport: what does not fit is cut, and said to be. */
  readonly maxBytes: number;
}

const HEADER_LENGTH = 12;
const OPT_LENGTH = 11;
const FLAG = {
  isResponse: 0x8000, isTruncated: 0x0200, isRecursionDesired: 0x0100, isRecursionAvailable: 0x0080, isAuthenticData: 0x0020, isCheckingDisabled: 0x0010,
} as const;
const OPTION = { cookie: 10, extendedError: 15 } as const;
const MAX_TEXT_LENGTH = 100;

/** @returns How many bytes a datagram for this client may have. */
export function datagramLimit({ edns }: DnsQuery): number {
  return edns === null ? 512 : Math.min(edns.udpPayloadSize, UDP_PAYLOAD_SIZE);
}

/** @param asked The query's own bytes: the name is given back in the case of letters in which it was asked. */
export function writeAnswer(answer: Answer, asked: Uint8Array, query: DnsQuery, options: ResponseOptions): Buffer {
  const { bytes, ttls, questionEnd } = answer;
  const optLength = query.edns === null ? 0 : OPT_LENGTH + optionsLength(options);
  const fits = bytes.length + optLength <= options.maxBytes;
  const recordsEnd = fits ? bytes.length : questionEnd;
  const response = Buffer.allocUnsafe(recordsEnd + optLength);
  response.set(fits ? bytes : bytes.subarray(0, questionEnd), 0);
  const wantsAuthentic = (query.flags & FLAG.isAuthenticData) !== 0 || query.edns?.isDnssecOk === true;
  writeHeader(response, query, answer.responseCode, (fits ? 0 : FLAG.isTruncated) | (answer.isAuthenticData && wantsAuthentic ? FLAG.isAuthenticData : 0));
  for (let at = HEADER_LENGTH; at < query.nameEnd; at += 1) response[at] = asked[at] as number;
  if (fits) setTtls(response, ttls, options);
  else response.fill(0, 6, HEADER_LENGTH);
  if (query.edns !== null) {
    writeCount(response, ADDITIONALS_AT, readCount(response, ADDITIONALS_AT) + 1);
    writeOpt(response, recordsEnd, 0, options);
  }
  return response;
}

/**
 * A response without records.
 * @param responseCode All twelve bits; those above four need EDNS in the query, as `BADVERS` does.
 */
export function writeCode(asked: Uint8Array, query: DnsQuery, responseCode: number, options: Partial<ResponseOptions> & { readonly isTruncated?: boolean } = {}): Buffer {
  const questionEnd = query.nameEnd + 4;
  const { extendedError = null, cookie = null, isTruncated = false } = options;
  const optLength = query.edns === null ? 0 : OPT_LENGTH + optionsLength({ extendedError, cookie });
  const response = Buffer.alloc(questionEnd + optLength);
  response.set(asked.subarray(0, questionEnd), 0);
  writeHeader(response, query, responseCode & 0x0f, isTruncated ? FLAG.isTruncated : 0);
  response.fill(0, 6, HEADER_LENGTH);
  if (query.edns !== null) {
    writeCount(response, ADDITIONALS_AT, 1);
    writeOpt(response, questionEnd, responseCode >>> 4, { extendedError, cookie });
  }
  return response;
}

/** For a message whose question cannot be read: its header alone. @param asked At least 12 bytes. */
export function writeHeaderOnly(asked: Uint8Array, responseCode: number): Buffer {
  const response = Buffer.alloc(HEADER_LENGTH);
  response.set(asked.subarray(0, 4), 0);
  const flags = FLAG.isResponse | (response.readUInt16BE(2) & (0x7800 | FLAG.isRecursionDesired)) | responseCode;
  response.writeUInt16BE(flags, 2);
  return response;
}

const QUESTIONS_AT = 4;
const ADDITIONALS_AT = 10;

function writeHeader(response: Buffer, query: DnsQuery, responseCode: number, more: number): void {
  const kept = query.flags & (FLAG.isRecursionDesired | FLAG.isCheckingDisabled);
  writeCount(response, 0, query.id);
  writeCount(response, 2, FLAG.isResponse | FLAG.isRecursionAvailable | kept | more | responseCode);
  writeCount(response, QUESTIONS_AT, 1);
}

function writeCount(response: Buffer, at: number, value: number): void {
  response[at] = value >>> 8;
  response[at + 1] = value & 0xff;
}

function readCount(response: Buffer, at: number): number {
  return ((response[at] as number) << 8) | (response[at + 1] as number);
}

function setTtls(response: Buffer, ttls: readonly number[], { ageSeconds, fixedTtlSeconds }: ResponseOptions): void {
  for (const at of ttls) {
    const sent = response.readUInt32BE(at);
    response.writeUInt32BE(fixedTtlSeconds ?? (sent > 0x7fff_ffff ? 0 : Math.max(0, sent - ageSeconds)), at);
  }
}

function optionsLength({ extendedError, cookie }: Pick<ResponseOptions, "extendedError" | "cookie">): number {
  return (extendedError ? 6 + Math.min(MAX_TEXT_LENGTH, extendedError.text.length) : 0) + (cookie ? 4 + cookie.length : 0);
}

function writeOpt(response: Buffer, start: number, highCode: number, options: Pick<ResponseOptions, "extendedError" | "cookie">): void {
  const { extendedError, cookie } = options;
  response[start] = 0;
  writeCount(response, start + 1, DNS_TYPE.opt);
  writeCount(response, start + 3, UDP_PAYLOAD_SIZE);
  response.writeUInt32BE((highCode << 24) >>> 0, start + 5);
  writeCount(response, start + 9, optionsLength(options));
  let at = start + OPT_LENGTH;
  if (cookie) {
    writeCount(response, at, OPTION.cookie);
    writeCount(response, at + 2, cookie.length);
    response.set(cookie, at + 4);
    at += 4 + cookie.length;
  }
  if (extendedError) {
    const text = extendedError.text.slice(0, MAX_TEXT_LENGTH);
    writeCount(response, at, OPTION.extendedError);
    writeCount(response, at + 2, 2 + text.length);
    writeCount(response, at + 4, extendedError.code);
    response.write(text, at + 6, "latin1");
  }
}
