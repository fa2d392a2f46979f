import { decoded, type Decoded, type Malformed } from "../decoded.ts";
import { createDnsNameReader, createDnsNameWriter, type DnsNameReader, type DnsNameWriter } from "./dns-name.ts";
import { DNS_CLASS, DNS_TYPE, type DnsData, type EdnsOption, readDnsData, writeDnsData } from "./dns-records.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import { Writer } from "../writer.ts";

/** RFC 1035: Domain Name System, with EDNS (RFC 6891) and the two bits of Multicast DNS (RFC 6762). */

/** UDP ports of DNS, and of Multicast DNS. */
export const DNS_PORT = { dns: 53, multicast: 5353 } as const;

/** @see https://www.iana.org/assignments/dns-parameters */
export const DNS_RESPONSE_CODE = { noError: 0, formatError: 1, serverFailure: 2, nameError: 3, notImplemented: 4, refused: 5 } as const;

interface DnsQuestion {
  readonly name: string;
  readonly type: number;
  /** 15 bits; 1 is the Internet. */
  readonly class: number;
  /** Multicast DNS: the answer may come by unicast. The top bit of the class. RFC 6762 section 5.4. */
  readonly wantsUnicastResponse: boolean;
}

/** One resource record of any section. @see RFC 1035 section 4.1.3 */
export interface DnsRecord {
  readonly name: string;
  readonly type: number;
  /** 15 bits; 1 is the Internet. In OPT all 16, the size of datagrams that the sender takes. */
  readonly class: number;
  /** Multicast DNS: what was known before of this name and type is void. The top bit of the class. RFC 6762 section 10.2. */
  readonly isCacheFlush: boolean;
  /** 0 in Multicast DNS says goodbye. In OPT: flags, see `dnsEdns`. */
  readonly ttlSeconds: number;
  readonly data: DnsData;
}

/** A query, response or update, of DNS or Multicast DNS. Records keep their order on the wire. @see RFC 1035 section 4.1 */
export interface DnsMessage {
  readonly id: number;
  readonly isResponse: boolean;
  /** 0 is a query, 5 an update. */
  readonly opcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly isRecursionDesired: boolean;
  readonly isRecursionAvailable: boolean;
  readonly isAuthenticData: boolean;
  readonly isCheckingDisabled: boolean;
  /** The four bits of the header; EDNS has more. */
  readonly responseCode: number;
  readonly questions: readonly DnsQuestion[];
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
}

const TOP_BIT = 0x8000;
const HEADER_LENGTH = 12;
const MAX_MESSAGE_LENGTH = 0xffff;

const FLAG = {
  isResponse: 0x8000,
  isAuthoritative: 0x0400,
  isTruncated: 0x0200,
  isRecursionDesired: 0x0100,
  isRecursionAvailable: 0x0080,
  isAuthenticData: 0x0020,
  isCheckingDisabled: 0x0010,
} as const;

/**
 * @param bytes A whole message: over TCP, what follows the two bytes of its length.
 * @returns All records, their bytes as views of `bytes`. One that is malformed makes the whole message so; what follows the
 * last record is ignored.
 */
export function decodeDns(bytes: Uint8Array): Decoded<DnsMessage> {
  const reader = new Reader(bytes);
  const id = reader.u16();
  const flags = reader.u16();
  const [questionCount, answerCount, authorityCount, additionalCount] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  if (reader.failed) return reader.malformed("dns");
  const readName = createDnsNameReader();
  const questions = readAll(questionCount, () => readQuestion(reader, readName));
  if ("ok" in questions) return questions;
  const answers = readAll(answerCount, () => readRecord(reader, readName));
  if ("ok" in answers) return answers;
  const authorities = readAll(authorityCount, () => readRecord(reader, readName));
  if ("ok" in authorities) return authorities;
  const additionals = readAll(additionalCount, () => readRecord(reader, readName));
  if ("ok" in additionals) return additionals;
  return decoded({
    id,
    isResponse: (flags & FLAG.isResponse) !== 0,
    opcode: (flags >>> 11) & 0x0f,
    isAuthoritative: (flags & FLAG.isAuthoritative) !== 0,
    isTruncated: (flags & FLAG.isTruncated) !== 0,
    isRecursionDesired: (flags & FLAG.isRecursionDesired) !== 0,
    isRecursionAvailable: (flags & FLAG.isRecursionAvailable) !== 0,
    isAuthenticData: (flags & FLAG.isAuthenticData) !== 0,
    isCheckingDisabled: (flags & FLAG.isCheckingDisabled) !== 0,
    responseCode: flags & 0x0f,
    questions, answers, authorities, additionals,
  });
}

/** Reads up to `count` items, and stops at the first that is malformed: each takes bytes, so a false count ends with them. */
function readAll<T extends object>(count: number, read: () => T | Malformed): readonly T[] | Malformed {
  const items: T[] = [];
  for (let left = count; left > 0; left -= 1) {
    const item = read();
    if ("ok" in item) return item;
    items.push(item);
  }
  return items;
}

function readQuestion(reader: Reader, readName: DnsNameReader): DnsQuestion | Malformed {
  const name = readName(reader);
  if (typeof name !== "string") return name;
  const type = reader.u16();
  const bits = reader.u16();
  if (reader.failed) return reader.malformed("dns");
  return { name, type, class: bits & ~TOP_BIT, wantsUnicastResponse: (bits & TOP_BIT) !== 0 };
}

function readRecord(reader: Reader, readName: DnsNameReader): DnsRecord | Malformed {
  const name = readName(reader);
  if (typeof name !== "string") return name;
  const type = reader.u16();
  const bits = reader.u16();
  const ttlSeconds = reader.u32();
  const length = reader.u16();
  const start = reader.offset;
  reader.skip(length);
  if (reader.failed) return reader.malformed("dns");
  const isOpt = type === DNS_TYPE.opt;
  const recordClass = isOpt ? bits : bits & ~TOP_BIT;
  const data = readDnsData(new Reader(reader.bytes, start, start + length), readName, type, recordClass);
  if ("ok" in data) return data;
  return { name, type, class: recordClass, isCacheFlush: !isOpt && (bits & TOP_BIT) !== 0, ttlSeconds, data };
}

/** What an encoder needs: numbers that are left out are 0, flags false, sections empty, the class is the Internet. */
export type DnsFields = Partial<Omit<DnsMessage, "questions" | "answers" | "authorities" | "additionals">> & {
  readonly questions?: readonly DnsQuestionFields[];
  readonly answers?: readonly DnsRecordFields[];
  readonly authorities?: readonly DnsRecordFields[];
  readonly additionals?: readonly DnsRecordFields[];
};

type DnsQuestionFields = Pick<DnsQuestion, "name" | "type"> & Partial<DnsQuestion>;

/** A record to be encoded: the class is the Internet and the cache is not flushed unless given. */
export type DnsRecordFields = Pick<DnsRecord, "name" | "type" | "ttlSeconds" | "data"> & Partial<DnsRecord>;

/**
 * @returns The message with its names compressed.
 * @throws PacketsError for a field or name that has no encoding, or more than 65,535 bytes.
 */
export function encodeDns(message: DnsFields): Uint8Array {
  const { id = 0, opcode = 0, responseCode = 0, questions = [], answers = [], authorities = [], additionals = [] } = message;
  requireRange("dns.id", id, 0, 0xffff);
  requireRange("dns.opcode", opcode, 0, 0x0f);
  requireRange("dns.responseCode", responseCode, 0, 0x0f);
  let flags = (opcode << 11) | responseCode;
  for (const [name, bit] of Object.entries(FLAG)) if (message[name as keyof typeof FLAG]) flags |= bit;
  const writer = new Writer(512).u16(id).u16(flags);
  for (const section of [questions, answers, authorities, additionals]) {
    requireRange("dns.section.length", section.length, 0, 0xffff);
    writer.u16(section.length);
  }
  const names = createDnsNameWriter(writer);
  for (const question of questions) writeQuestion(writer, names, question);
  for (const record of [...answers, ...authorities, ...additionals]) writeRecord(writer, names, record);
  requireRange("dns.length", writer.length, HEADER_LENGTH, MAX_MESSAGE_LENGTH);
  return writer.finish();
}

function writeQuestion(writer: Writer, names: DnsNameWriter, question: DnsQuestionFields): void {
  const { name, type, class: questionClass = DNS_CLASS.internet, wantsUnicastResponse = false } = question;
  requireRange("dns.type", type, 0, 0xffff);
  requireRange("dns.class", questionClass, 0, TOP_BIT - 1);
  names.write(name, true);
  writer.u16(type).u16(questionClass | (wantsUnicastResponse ? TOP_BIT : 0));
}

function writeRecord(writer: Writer, names: DnsNameWriter, record: DnsRecordFields): void {
  const { name, type, class: recordClass = DNS_CLASS.internet, isCacheFlush = false, ttlSeconds, data } = record;
  requireRange("dns.type", type, 0, 0xffff);
  requireRange("dns.class", recordClass, 0, type === DNS_TYPE.opt ? 0xffff : TOP_BIT - 1);
  requireRange("dns.ttlSeconds", ttlSeconds, 0, 0xffff_ffff);
  names.write(name, true);
  writer.u16(type).u16(recordClass | (isCacheFlush ? TOP_BIT : 0)).u32(ttlSeconds).u16(0);
  const start = writer.length;
  writeDnsData(writer, names, data, type);
  requireRange("dns.data.length", writer.length - start, 0, 0xffff);
  writer.setU16(start - 2, writer.length - start);
}

/** What the sender of a message can take, and more of its outcome. */
export interface Edns {
  /** Of datagrams, in bytes. */
  readonly udpPayloadSize: number;
  /** All twelve bits, the header's four at the end. */
  readonly responseCode: number;
  readonly version: number;
  /** DNSSEC records are welcome. RFC 3225. */
  readonly isDnssecOk: boolean;
  readonly options: readonly EdnsOption[];
}

/** @returns What the message's OPT record says, or null without one. @see RFC 6891 section 6.1.3 */
export function dnsEdns(message: DnsMessage): Edns | null {
  const record = message.additionals.find(({ type }) => type === DNS_TYPE.opt);
  if (!record) return null;
  return {
    udpPayloadSize: record.class,
    responseCode: ((record.ttlSeconds >>> 24) << 4) | message.responseCode,
    version: (record.ttlSeconds >>> 16) & 0xff,
    isDnssecOk: (record.ttlSeconds & 0x8000) !== 0,
    options: record.data.kind === "opt" ? record.data.options : [],
  };
}
