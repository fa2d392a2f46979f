/** Messages of DNS as rules see them: names as bytes, types as numbers. @see RFC 1035 section 4.1 */
import { Reader } from "@lanthorn/packets";
import { type NameBudget, readLaxName } from "./dns-name.ts";

/** A question, or what is asked of a record: whose it is, of what type, and the name that it points to. */
export interface DnsEntry {
  readonly name: Uint8Array;
  readonly type: number;
  /** Of CNAME, NS, PTR, MX and SOA. */
  readonly target: Uint8Array | null;
}

/** A query or a response. */
export interface RuleDnsMessage {
  readonly isResponse: boolean;
  readonly opcode: number;
  readonly responseCode: number;
  readonly questions: readonly DnsEntry[];
  readonly answers: readonly DnsEntry[];
  readonly authorities: readonly DnsEntry[];
  readonly additionals: readonly DnsEntry[];
  /** Names of Suricata's events. */
  readonly events: readonly string[];
}

const HEADER_BYTES = 12;
const FLAG = { response: 0x8000, zero: 0x0040 } as const;
const MAX_OPCODE = 6;
const TYPE = { ns: 2, cname: 5, soa: 6, ptr: 12, mx: 15, txt: 16, srv: 33, sshfp: 44 } as const;
/** A message of 64 KiB can name its longest name thousands of times; real ones stay far below. */
const MAX_NAME_WORK = 256 * 1024;

const pathTo = (bytes: Uint8Array, at: number, budget: NameBudget) => readLaxName(bytes, at, budget)?.bytes ?? null;

/**
 * As Suricata: what is behind the questions of a query is not read, and what cannot be read in the additional section is left out; anything else
 * that cannot be read makes the whole message so.
 * @returns null where it cannot be read.
 */
export function readDnsMessage(bytes: Uint8Array): RuleDnsMessage | null {
  const header = new Reader(bytes);
  header.skip(2);
  const flags = header.u16();
  const counts = [header.u16(), header.u16(), header.u16(), header.u16()] as const;
  if (header.failed) return null;
  const events: string[] = [];
  const isResponse = (flags & FLAG.response) !== 0;
  const opcode = (flags >> 11) & 0x0f;
  if ((flags & FLAG.zero) !== 0) events.push("z_flag_set");
  if (opcode > MAX_OPCODE) events.push("invalid_opcode");
  const walk = createWalk(bytes, events);
  const questions = walk.entries(counts[0], false);
  if (!questions.isWhole) return null;
  const message = (answers: readonly DnsEntry[], authorities: readonly DnsEntry[], additionals: readonly DnsEntry[]): RuleDnsMessage => (
    { isResponse, opcode, responseCode: flags & 0x0f, questions: questions.entries, answers, authorities, additionals, events });
  if (!isResponse) return message([], [], []);
  const answers = walk.entries(counts[1], true);
  const authorities = answers.isWhole ? walk.entries(counts[2], true) : null;
  if (!authorities?.isWhole) return null;
  return message(answers.entries, authorities.entries, walk.entries(counts[3], true).entries);
}

interface Walk {
  /** Reads up to `count` questions or records, and stops at the first that cannot be read: each takes bytes, so a false count ends with them. */
  entries(count: number, areRecords: boolean): { readonly entries: readonly DnsEntry[]; readonly isWhole: boolean };
}

function createWalk(bytes: Uint8Array, events: string[]): Walk {
  const budget: NameBudget = { left: MAX_NAME_WORK };
  let at = HEADER_BYTES;

  function readEntry(isRecord: boolean): DnsEntry | null {
    const name = readLaxName(bytes, at, budget);
    if (!name) return null;
    if (name.isTooLong && !events.includes("name_too_long")) events.push("name_too_long");
    if (name.hasTooManyLabels && !events.includes("too_many_labels")) events.push("too_many_labels");
    const reader = new Reader(bytes, name.next);
    const type = reader.u16();
    reader.skip(isRecord ? 6 : 2);
    const length = isRecord ? reader.u16() : 0;
    const begin = reader.offset;
    reader.skip(length);
    if (reader.failed) return null;
    const target = isRecord ? readTarget(type, begin, length) : null;
    if (target === "malformed") return null;
    at = reader.offset;
    return { name: name.bytes, type, target };
  }

  function readTarget(type: number, begin: number, length: number): Uint8Array | "malformed" | null {
    switch (type) {
      case TYPE.ns:
      case TYPE.cname:
      case TYPE.ptr:
        return pathTo(bytes.subarray(0, begin + length), begin, budget) ?? "malformed";
      case TYPE.mx:
        return pathTo(bytes.subarray(0, begin + length), begin + 2, budget) ?? "malformed";
      case TYPE.soa: {
        const end = begin + length;
        const primary = readLaxName(bytes.subarray(0, end), begin, budget);
        const mailbox = primary ? readLaxName(bytes.subarray(0, end), primary.next, budget) : null;
        return primary && mailbox && mailbox.next + 20 <= end ? primary.bytes : "malformed";
      }
      case TYPE.srv:
        return pathTo(bytes.subarray(0, begin + length), begin + 6, budget) === null ? "malformed" : null;
      case TYPE.txt:
        return isTextList(bytes.subarray(begin, begin + length)) ? null : "malformed";
      case TYPE.sshfp:
        return length < 2 ? "malformed" : null;
      default:
        return length === 0 ? "malformed" : null;
    }
  }

  return {
    entries(count, areRecords) {
      const entries: DnsEntry[] = [];
      for (let left = count; left > 0; left -= 1) {
        const entry = readEntry(areRecords);
        if (!entry) return { entries, isWhole: false };
        entries.push(entry);
      }
      return { entries, isWhole: true };
    },
  };
}

/** One string at least, each behind its length. */
function isTextList(data: Uint8Array): boolean {
  let at = 0;
  while (at < data.length) at += 1 + (data[at] as number);
  return data.length > 0 && at === data.length;
}
