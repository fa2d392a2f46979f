/** Data that is carried in names and answers: many different names of one domain, and what they and the answers hold. */
import { DNS_RESPONSE_CODE } from "@lanthorn/packets";
import type { Allowed } from "../allowances.ts";
import { addressesOf, carriedBytes, isCarrier, scopeOf } from "../facts/answer-facts.ts";
import { createDistinctCount, type DistinctCount } from "../facts/distinct-count.ts";
import { belowDomain, isReversedAddress } from "../facts/name-shape.ts";
import { RANDOM_BELOW, scorePairs } from "../facts/pair-score.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import { HOUR, MAX_SAMPLES, type NamedExchange, type OnSuspicion } from "../suspicion.ts";
import { spokenTool } from "./tunnel-tools.ts";

/** What a client asked of one domain within an hour. */
interface Tally {
  begunAt: number;
  queries: number;
  /** Of them: for carrier types; whose names look random. */
  carriers: number;
  random: number;
  /** Octets of names below the domain, and of them what is more than names need. */
  nameBytes: number;
  excessBytes: number;
  answers: number;
  /** Octets of data in answers to carrier types, and in those that are no address. */
  dataBytes: number;
  /** Answers with addresses of 127/8, as lists give them; and that the name is not there. */
  listed: number;
  missing: number;
  /** The words of a program's handshake; "" before. */
  tool: string;
  names: DistinctCount | null;
  samples: string[];
  repeats: Repeats;
}

/** Pairs of client and domain of which only the beginning was seen, and the others: who makes up names drives out none of these. */
const MAX_NEW = 8192;
const MAX_BUSY = 2048;
/** Queries, from which on different names are counted. Fewer are no tunnel. */
const BUSY_AFTER = 8;

/** Different names; content networks have some dozens an hour. */
const MIN_NAMES = 40;
/** Of a handshake fewer will do. */
const MIN_TOOL_NAMES = 4;
/** Part of the queries that were new. */
const MIN_NEW_SHARE = 0.25;
const CARRIER_SHARE = 0.5;
const RANDOM_SHARE = 0.6;
/** Mean octets below the domain of names that carry data. Content networks' are shorter or made of words. */
const LONG_NAME = 28;
/** What a name needs; what is longer may be data. */
const NAME_NEEDS = 32;
const MIN_UP_BYTES = 2048;
/** Of data in answers; policies for mail are some hundred octets for each domain. */
const MIN_DOWN_BYTES = 2048;
const MEAN_DOWN_BYTES = 24;
/** Reputation asked by a hash: most answers are verdicts, and the names are no longer than a hash in hexadecimal with the list's own labels. */
const VERDICT_SHARE = 0.8;
const HASH_NAME = 64;
const MISSING_NAME = 48;

/** Detects tunnels. */
export interface TunnelDetector {
  query(exchange: NamedExchange): void;
  answer(exchange: NamedExchange): void;
  /** What was forgotten because there was too much. */
  readonly evicted: number;
}

/** @param deps.key Of hashes. */
export function createTunnelDetector(deps: { readonly isAllowed: Allowed; readonly key: number; readonly onSuspicion: OnSuspicion }): TunnelDetector {
  const fresh = createRecentMap<string, Tally>(MAX_NEW);
  const busy = createRecentMap<string, Tally>(MAX_BUSY);

  function tallyOf({ client, domain, at }: NamedExchange): Tally {
    const key = `${client} ${domain}`;
    const known = busy.get(key) ?? fresh.get(key);
    if (known) {
      if (Math.abs(at - known.begunAt) >= HOUR) {
        Object.assign(known, createTally(at), { repeats: known.repeats, names: known.names && createDistinctCount(deps.key) });
      }
      if (known.names === null && known.queries >= BUSY_AFTER) {
        known.names = createDistinctCount(deps.key);
        fresh.delete(key);
        busy.put(key, known);
      }
      return known;
    }
    const tally = createTally(at);
    fresh.put(key, tally);
    return tally;
  }

  function judge(exchange: NamedExchange, tally: Tally): void {
    const signals = signalsOf(tally);
    if (signals === null) return;
    const count = countOne(tally.repeats, exchange.at, tally.queries);
    if (count === 0 || deps.isAllowed(exchange.name)) return;
    const { client, server, domain, name, type, at } = exchange;
    deps.onSuspicion({
      kind: "tunnel", campaign: domain, client, server, at, name, type, samples: [...tally.samples], count, severity: "high",
      techniques: ["T1071.004", "T1572", ...(tally.nameBytes > tally.dataBytes ? ["T1048.003"] : []), "T1132.001"], signals,
    });
  }

  return {
    query(exchange) {
      const { name, domain, type } = exchange;
      const below = belowDomain(name, domain);
      if (below === "" || isReversedAddress(below)) return;
      const tally = tallyOf(exchange);
      tally.queries += 1;
      if (isCarrier(type)) tally.carriers += 1;
      if (scorePairs(below) < RANDOM_BELOW || below.includes("\\")) tally.random += 1;
      tally.nameBytes += below.length;
      tally.excessBytes += Math.max(0, below.length - NAME_NEEDS);
      const isNew = tally.names === null || tally.names.add(below);
      if (isNew && tally.samples.length < MAX_SAMPLES && !tally.samples.includes(name)) tally.samples.push(name);
      if (tally.tool === "") tally.tool = spokenTool(below, type);
      if (tally.names !== null || tally.tool !== "") judge(exchange, tally);
    },
    answer(exchange) {
      const { client, domain, message, type } = exchange;
      const key = `${client} ${domain}`;
      const tally = busy.peek(key) ?? fresh.peek(key);
      if (!tally) return;
      tally.answers += 1;
      const addresses = addressesOf(message);
      if (message.responseCode === DNS_RESPONSE_CODE.nameError) tally.missing += 1;
      else if (addresses.length > 0 && addresses.every(({ bytes }) => scopeOf(bytes) === "loopback")) tally.listed += 1;
      if (isCarrier(type) || addresses.length === 0) tally.dataBytes += carriedBytes(message);
    },
    get evicted() {
      return fresh.evicted + busy.evicted;
    },
  };
}

function createTally(at: number): Tally {
  return {
    begunAt: at, queries: 0, carriers: 0, random: 0, nameBytes: 0, excessBytes: 0, answers: 0, dataBytes: 0, listed: 0, missing: 0, tool: "", names: null, samples: [], repeats: createRepeats(),
  };
}

/** @returns Null where they are too few. */
function signalsOf(tally: Tally): string[] | null {
  const { queries, carriers, random, nameBytes, excessBytes, answers, dataBytes, listed, missing, tool } = tally;
  const distinct = tally.names?.read() ?? queries;
  const isTool = tool !== "" && distinct >= MIN_TOOL_NAMES;
  if (!isTool && (distinct < MIN_NAMES || distinct / queries < MIN_NEW_SHARE)) return null;
  const mean = nameBytes / queries;
  const signals = [
    tool === "" ? null : `the first names are ${tool}'s handshake`,
    carriers / queries < CARRIER_SHARE ? null : `${percent(carriers / queries)} of the questions ask for types that can carry any data`,
    mean < LONG_NAME || random / queries < RANDOM_SHARE ? null : `the names have ${Math.round(mean)} characters below the domain, and ${percent(random / queries)} of them look random`,
    excessBytes < MIN_UP_BYTES && (dataBytes < MIN_DOWN_BYTES || dataBytes / Math.max(1, answers) < MEAN_DOWN_BYTES) ? null
      : `${nameBytes} bytes went out in names and ${dataBytes} came back in answers`,
  ].filter((signal) => signal !== null);
  if (signals.length < 2) return null;
  const isReputation = !isTool && (listed + missing) / Math.max(1, answers) >= VERDICT_SHARE && carriers / queries < CARRIER_SHARE
    && mean <= (listed >= missing ? HASH_NAME : MISSING_NAME);
  return isReputation ? null : [`${distinct} different names of one domain within an hour`, ...signals];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
