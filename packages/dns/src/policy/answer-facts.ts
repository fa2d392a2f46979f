import { DNS_TYPE, type DnsMessage, type DnsRecord, formatIp, SERVICE_PARAMETER } from "@lanthorn/packets";
import type { MatchedRecord } from "./verdict.ts";

/** What of an answer is compared with rules. */
export interface AnswerFacts {
  /** Names behind the question's: targets of CNAMEs in their order, then those of SVCB and HTTPS records. */
  readonly names: readonly { readonly section: "cname" | "svcb"; readonly name: string }[];
  /** Addresses, four or sixteen bytes each, also those of hints. */
  readonly addresses: readonly Uint8Array[];
  /** Of the question's name, then of each of `names`, in their order; left out where nobody asked for them. */
  readonly nameServers: readonly ServerFacts[];
}

/** The servers that answer for a name and for the zones above it. */
export interface ServerFacts {
  readonly names: readonly string[];
  readonly addresses: readonly Uint8Array[];
}

/** Longer chains are cut: no resolver follows as many. */
const MAX_NAMES = 32;
const MAX_ADDRESSES = 256;

/** Reads the answer section. */
export function readAnswerFacts(message: Pick<DnsMessage, "answers">): AnswerFacts {
  const aliases = message.answers.flatMap(({ type, data }) => (type === DNS_TYPE.cname && data.kind === "name" ? [{ section: "cname" as const, name: data.name }] : []));
  const services = message.answers.flatMap((record) => readService(record) ?? []);
  const targets = services.filter(({ target }) => target !== "").map(({ target }) => ({ section: "svcb" as const, name: target }));
  const addresses = message.answers.flatMap(({ data }) => (data.kind === "address" ? [data.address] : []));
  return {
    names: [...aliases, ...targets].slice(0, MAX_NAMES), addresses: [...addresses, ...services.flatMap(({ hints }) => hints)].slice(0, MAX_ADDRESSES),
    nameServers: [],
  };
}

interface Service {
  /** Empty where it is the record's own name. */
  readonly target: string;
  readonly hints: readonly Uint8Array[];
}

function readService({ data }: DnsRecord): Service | null {
  if (data.kind !== "svcb") return null;
  const hints = data.parameters.flatMap(({ key, value }) => addressesOf(value, key === SERVICE_PARAMETER.ipv4Hint ? 4 : key === SERVICE_PARAMETER.ipv6Hint ? 16 : 0));
  return { target: data.target === "." ? "" : data.target, hints };
}

/** @param length Of each; 0 for none. */
function addressesOf(value: Uint8Array, length: number): readonly Uint8Array[] {
  return Array.from({ length: length === 0 ? 0 : Math.floor(value.length / length) }, (_, index) => value.subarray(index * length, (index + 1) * length));
}

/** An address with its text. */
export function addressRecord(section: MatchedRecord["section"], address: Uint8Array): MatchedRecord {
  return { section, value: formatIp(address) };
}
