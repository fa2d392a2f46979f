/**
 * A query as a server meets it, read in place: nothing is made of its name, so that a flood costs little.
 * @see RFC 1035 section 4.1, RFC 6891 section 6.1, RFC 7873 section 4
 */
import { DNS_TYPE } from "./dns-records.ts";
import { Reader } from "../reader.ts";

/** What EDNS says of who asks. */
export interface DnsQueryEdns {
  /** Of datagrams that they take, in bytes; below 512 it counts as 512 (RFC 6891 section 6.2.3). */
  readonly udpPayloadSize: number;
  /** Nobody speaks another one than 0. */
  readonly version: number;
  /** DNSSEC records are welcome. RFC 3225. */
  readonly isDnssecOk: boolean;
  /** The value of option COOKIE, 8 to 40 bytes, as a view; null without one. */
  readonly cookie: Uint8Array | null;
  /** Option PADDING is there: the answer's length should say nothing either. RFC 7830. */
  readonly isPadded: boolean;
}

/** One question, and perhaps OPT. */
export interface DnsQuery {
  readonly id: number;
  /** The header's second word: RD is 0x0100, AD 0x0020, CD 0x0010. */
  readonly flags: number;
  /** Index behind the root label of the name, which begins at 12. */
  readonly nameEnd: number;
  readonly type: number;
  readonly class: number;
  readonly edns: DnsQueryEdns | null;
}

/**
 * Why there is no query. `ignored`: too short, or a response: to answer those makes loops. `malformed`: FORMERR is the answer.
 * `other-operation`: NOTIMP is.
 */
export type NoDnsQuery = "ignored" | "malformed" | "other-operation";

/** With the byte of the root. RFC 1035 section 2.3.4. */
const MAX_NAME_LENGTH = 255;
const MAX_LABEL_LENGTH = 63;
const IS_RESPONSE = 0x8000;
const OPCODE = 0x7800;
const COOKIE = 10;
const PADDING = 12;
const MIN_COOKIE_LENGTH = 8;
const MAX_COOKIE_LENGTH = 40;
/** OPT, TSIG, and one that nobody has thought of. */
const MAX_ADDITIONALS = 3;

/** @param bytes A whole message: over TCP, what follows the two bytes of its length. The query's views are of it. */
export function readDnsQuery(bytes: Uint8Array): DnsQuery | NoDnsQuery {
  const reader = new Reader(bytes);
  const [id, flags, questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  if (reader.failed || (flags & IS_RESPONSE) !== 0) return "ignored";
  if ((flags & OPCODE) !== 0) return "other-operation";
  if (questions !== 1 || answers !== 0 || authorities !== 0 || additionals > MAX_ADDITIONALS) return "malformed";
  if (!skipPlainName(reader)) return "malformed";
  const nameEnd = reader.offset;
  const [type, questionClass] = [reader.u16(), reader.u16()];
  if (reader.failed) return "malformed";
  let edns: DnsQueryEdns | null = null;
  for (let left = additionals; left > 0; left -= 1) {
    const isRoot = bytes[reader.offset] === 0;
    if (!skipPlainName(reader)) return "malformed";
    const [recordType, size, ttl, length] = [reader.u16(), reader.u16(), reader.u32(), reader.u16()];
    const data = new Reader(bytes, reader.offset, reader.offset + length);
    reader.skip(length);
    if (reader.failed) return "malformed";
    if (recordType !== DNS_TYPE.opt) continue;
    if (!isRoot || edns !== null) return "malformed";
    const options = readOptions(data);
    if (options === "malformed") return "malformed";
    edns = { udpPayloadSize: Math.max(512, size), version: (ttl >>> 16) & 0xff, isDnssecOk: (ttl & 0x8000) !== 0, ...options };
  }
  return { id, flags, nameEnd, type, class: questionClass, edns };
}

/** @returns Whether there is a name without pointers: there is nothing before a question to point to. */
function skipPlainName(reader: Reader): boolean {
  const start = reader.offset;
  for (;;) {
    const length = reader.u8();
    if (reader.failed || length > MAX_LABEL_LENGTH) return false;
    if (length === 0) return reader.offset - start <= MAX_NAME_LENGTH;
    reader.skip(length);
    if (reader.offset - start > MAX_NAME_LENGTH) return false;
  }
}

function readOptions(data: Reader): Pick<DnsQueryEdns, "cookie" | "isPadded"> | "malformed" {
  let cookie: Uint8Array | null = null;
  let isPadded = false;
  while (data.remaining > 0) {
    const [code, length] = [data.u16(), data.u16()];
    const value = data.take(length);
    if (data.failed) return "malformed";
    if (code === PADDING) isPadded = true;
    if (code !== COOKIE) continue;
    // RFC 7873 section 5.2.2: 8 bytes, or 8 and 8 to 32 of the server's.
    if (length !== MIN_COOKIE_LENGTH && (length < 2 * MIN_COOKIE_LENGTH || length > MAX_COOKIE_LENGTH)) return "malformed";
    cookie ??= value;
  }
  return { cookie, isPadded };
}

/** Where things lie in a message that can be decoded. Offsets count from its first byte. */
export interface DnsLayout {
  /** Of the four bytes of each record's TTL, but OPT's. */
  readonly ttls: readonly number[];
  /** Behind the question section. */
  readonly questionsEnd: number;
  /** The one OPT record, from its name to its end; null without one. */
  readonly opt: { readonly start: number; readonly end: number } | null;
  /** Behind the last record. */
  readonly end: number;
}

/** @returns Null where the message ends early or names run on. Names are not followed: `decodeDns` says whether they are right. */
export function locateDnsRecords(bytes: Uint8Array): DnsLayout | null {
  const reader = new Reader(bytes, 4);
  const questions = reader.u16();
  const records = reader.u16() + reader.u16() + reader.u16();
  for (let left = questions; left > 0 && !reader.failed; left -= 1) {
    skipName(reader);
    reader.skip(4);
  }
  const questionsEnd = reader.offset;
  const ttls: number[] = [];
  let opt: DnsLayout["opt"] = null;
  for (let left = records; left > 0 && !reader.failed; left -= 1) {
    const start = reader.offset;
    skipName(reader);
    const type = reader.u16();
    reader.skip(2);
    const ttl = reader.offset;
    reader.skip(4);
    reader.skip(reader.u16());
    if (type === DNS_TYPE.opt) opt = { start, end: reader.offset };
    else ttls.push(ttl);
  }
  return reader.failed ? null : { ttls, questionsEnd, opt, end: reader.offset };
}

function skipName(reader: Reader): void {
  for (;;) {
    const length = reader.u8();
    if (reader.failed || length === 0) return;
    if (length >= 0xc0) return reader.skip(1);
    reader.skip(length);
  }
}

