/** A site whose clients ask for names: what they say, on a clock of its own. */
import { decodeDns, DNS_TYPE, type DnsRecordFields, encodeDns, parseIp } from "@lanthorn/packets";
import { createPassiveDns, type PassiveDnsOptions } from "../passive-dns.ts";
import type { DnsSuspicion } from "../suspicion.ts";

/** What somebody asks, and what is answered. */
export interface Asked {
  readonly name: string;
  readonly type?: number;
  readonly client?: string;
  readonly server?: string;
  /** Addresses of A and AAAA records, or records; "missing" says that the name does not exist. Left out: nothing is answered. */
  readonly answer?: "missing" | readonly (DnsRecordFields | string)[];
  readonly ttlSeconds?: number;
  readonly additionals?: readonly DnsRecordFields[];
}

/** Numbers that are the same at each run, 0 to below 1. */
export function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A text of so many characters of an alphabet. */
export function drawText(draw: () => number, length: number, alphabet = "abcdefghijklmnopqrstuvwxyz"): string {
  return Array.from({ length }, () => alphabet[Math.floor(draw() * alphabet.length)]).join("");
}

export const [CLIENT, RESOLVER] = ["10.0.0.5", "10.0.0.1"];

/** Detectors, and who speaks to them. */
export function createSite(options: Partial<PassiveDnsOptions> = {}) {
  const found: DnsSuspicion[] = [];
  const dns = createPassiveDns({ allowed: [], resolvers: [], random: () => 0.5, onSuspicion: (one) => found.push(one), ...options });
  let at = Date.UTC(2026, 0, 1) * 1000;
  let id = 0;

  function hand(fields: Parameters<typeof encodeDns>[0], { client = CLIENT, server = RESOLVER, port = 40_000 }: { readonly client?: string; readonly server?: string; readonly port?: number }): void {
    const bytes = encodeDns(fields);
    const message = decodeDns(bytes);
    if (!message.ok) throw new Error("a test's message cannot be read");
    dns.exchange({ message: message.value, bytes: bytes.length, client, server, clientPort: port, at });
  }

  const answer = (asked: Asked, ask: number) => {
    const { name, type = DNS_TYPE.a, answer: records = [], ttlSeconds = 300, additionals = [] } = asked;
    hand({
      id: ask, isResponse: true, isRecursionDesired: true, isRecursionAvailable: true, responseCode: records === "missing" ? 3 : 0, questions: [{ name, type }], additionals,
      answers: records === "missing" ? [] : records.map((one) => (typeof one === "string" ? addressRecord(name, one, ttlSeconds) : one)),
    }, asked);
  };
  return {
    dns, found,
    kinds: () => [...new Set(found.map(({ kind }) => kind))],
    /** Captured time goes on. */
    wait(seconds: number): void {
      at += seconds * 1e6;
    },
    at: () => at,
    /** @returns The question's id. */
    ask(asked: Asked): number {
      id = (id + 1) & 0xffff;
      hand({ id, isRecursionDesired: true, questions: [{ name: asked.name, type: asked.type ?? DNS_TYPE.a }] }, asked);
      if (asked.answer) answer(asked, id);
      return id;
    },
    /** Another answer to a question. */
    answer,
  };
}

function addressRecord(name: string, address: string, ttlSeconds: number): DnsRecordFields {
  const bytes = parseIp(address);
  if (!bytes) throw new Error(`no address: ${address}`);
  return { name, type: bytes.length === 4 ? DNS_TYPE.a : DNS_TYPE.aaaa, ttlSeconds, data: { kind: "address", address: bytes } };
}
