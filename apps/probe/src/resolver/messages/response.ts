/** Responses to clients, written byte by byte: this is what a busy resolver does most. @see RFC 1035 section 4.1, RFC 6891 section 6.2 */
import { DNS_TYPE, type DnsQuery, locateDnsRecords } from "@lanthorn/packets";
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
const OPTION = { cookie: 10, padding: 12, extendedError: 15 } as const;
const MAX_TEXT_LENGTH = 100;
const PADDED_TO = 468;
const STREAM_MAX_BYTES = 0xffff;

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

/** What a response without answers may hold. */
export interface CodeOptions extends Partial<Pick<ResponseOptions, "extendedError" | "cookie">> {
  readonly isTruncated?: boolean;
  /** How long clients may keep it: they do only with a SOA record (RFC 2308 section 5). */
  readonly keptSeconds?: number;
}

/**
 * A response without answers.
 * @param responseCode All twelve bits; those above four need EDNS in the query, as `BADVERS` does.
 */
export function writeCode(asked: Uint8Array, query: DnsQuery, responseCode: number, options: CodeOptions = {}): Buffer {
  const questionEnd = query.nameEnd + 4;
  const { extendedError = null, cookie = null, isTruncated = false, keptSeconds = 0 } = options;
  const optLength = query.edns === null ? 0 : OPT_LENGTH + optionsLength({ extendedError, cookie });
  const recordsEnd = questionEnd + (keptSeconds > 0 ? SOA_LENGTH : 0);
  const response = Buffer.alloc(recordsEnd + optLength);
  response.set(asked.subarray(0, questionEnd), 0);
  writeHeader(response, query, responseCode & 0x0f, isTruncated ? FLAG.isTruncated : 0);
  response.fill(0, 6, HEADER_LENGTH);
  if (keptSeconds > 0) {
    writeCount(response, AUTHORITIES_AT, 1);
    writeSoa(response, questionEnd, keptSeconds);
  }
  if (query.edns !== null) {
    writeCount(response, ADDITIONALS_AT, 1);
    writeOpt(response, recordsEnd, responseCode >>> 4, { extendedError, cookie });
  }
  return response;
}

/**
 * Adds zeros, so that the length says little of what was asked.
 * @param response With OPT as its last record, as all of ours to a query with EDNS.
 * @see RFC 7830 section 4, RFC 8467 section 4.1
 */
export function padResponse(response: Buffer): Buffer {
  const opt = locateDnsRecords(response)?.opt;
  if (!opt || opt.end !== response.length) return response;
  const length = Math.ceil((response.length + 4) / PADDED_TO) * PADDED_TO;
  if (length > STREAM_MAX_BYTES) return response;
  const padded = Buffer.alloc(length);
  padded.set(response, 0);
  writeCount(padded, response.length, OPTION.padding);
  writeCount(padded, response.length + 2, length - response.length - 4);
  writeCount(padded, opt.start + 9, length - opt.start - OPT_LENGTH);
  return padded;
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
const AUTHORITIES_AT = 8;
const ADDITIONALS_AT = 10;
/** The question's name as a pointer, the fields of a record, two root names and five numbers. */
const SOA_LENGTH = 12 + 22;
const NAME_POINTER = 0xc000 | HEADER_LENGTH;
const CLASS_INTERNET = 1;

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

/** The zone is the name itself: clients learn nothing of names above it. */
function writeSoa(response: Buffer, start: number, keptSeconds: number): void {
  writeCount(response, start, NAME_POINTER);
  writeCount(response, start + 2, DNS_TYPE.soa);
  writeCount(response, start + 4, CLASS_INTERNET);
  response.writeUInt32BE(keptSeconds, start + 6);
  writeCount(response, start + 10, SOA_LENGTH - 12);
  // Names, serial, refresh, retry and expire mean nothing here, and are zero; the last number counts.
  response.writeUInt32BE(keptSeconds, start + SOA_LENGTH - 4);
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
