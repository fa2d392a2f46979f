import { DNS_TYPE, type DnsMessage, type DnsRecord, formatIp, Reader } from "@lanthorn/packets";
import type { MatchedRecord } from "./verdict.ts";

/** What of an answer is compared with rules. */
export interface AnswerFacts {
  /** Names behind the question's: targets of CNAMEs in their order, then those of SVCB and HTTPS records. */
  readonly names: readonly { readonly section: "cname" | "svcb"; readonly name: string }[];
  /** Addresses, four or sixteen bytes each, also those of hints. */
  readonly addresses: readonly Uint8Array[];
  /** Servers that answered for the last name, where the resolver knows them; a forwarder does not. */
  readonly nameServers: { readonly names: readonly string[]; readonly addresses: readonly Uint8Array[] };
}

/** Types of RFC 9460. */
const SERVICE_TYPES: ReadonlySet<number> = new Set([64, 65]);
/** RFC 9460 section 14.3.2. */
const HINT = { ipv4: 4, ipv6: 6 } as const;
/** Longer chains are cut: no resolver follows as many. */
const MAX_NAMES = 32;
const MAX_ADDRESSES = 256;

/** Reads the answer section; malformed service records are left out. */
export function readAnswerFacts(message: Pick<DnsMessage, "answers">): AnswerFacts {
  const aliases = message.answers.flatMap(({ type, data }) => (type === DNS_TYPE.cname && data.kind === "name" ? [{ section: "cname" as const, name: data.name }] : []));
  const services = message.answers.flatMap((record) => readService(record) ?? []);
  const targets = services.filter(({ target }) => target !== "").map(({ target }) => ({ section: "svcb" as const, name: target }));
  const addresses = message.answers.flatMap(({ data }) => (data.kind === "address" ? [data.address] : []));
  return {
    names: [...aliases, ...targets].slice(0, MAX_NAMES), addresses: [...addresses, ...services.flatMap(({ hints }) => hints)].slice(0, MAX_ADDRESSES),
    nameServers: { names: [], addresses: [] },
  };
}

interface Service {
  /** Empty where it is the record's own name. */
  readonly target: string;
  readonly hints: readonly Uint8Array[];
}

/** @see RFC 9460 section 2.2 */
function readService({ type, data }: DnsRecord): Service | null {
  if (!SERVICE_TYPES.has(type) || data.kind !== "bytes") return null;
  const reader = new Reader(data.bytes);
  reader.skip(2);
  const target = readTarget(reader);
  const hints: Uint8Array[] = [];
  while (reader.remaining >= 4 && !reader.failed) {
    const key = reader.u16();
    const value = reader.take(reader.u16());
    const length = key === HINT.ipv4 ? 4 : key === HINT.ipv6 ? 16 : 0;
    if (length > 0) for (let at = 0; at + length <= value.length; at += length) hints.push(value.subarray(at, at + length));
  }
  return reader.failed || target === null ? null : { target, hints };
}

/** A name without pointers, which service records have not. Bytes that no host name has stay as they are: no list has such a name. */
function readTarget(reader: Reader): string | null {
  const labels: string[] = [];
  for (let length = reader.u8(); length !== 0; length = reader.u8()) {
    const label = reader.take(length);
    if (reader.failed || length > 63 || labels.length > 127) return null;
    labels.push(String.fromCharCode(...label));
  }
  return reader.failed ? null : labels.join(".");
}

/** An address with its text. */
export function addressRecord(section: MatchedRecord["section"], address: Uint8Array): MatchedRecord {
  return { section, value: formatIp(address) };
}
