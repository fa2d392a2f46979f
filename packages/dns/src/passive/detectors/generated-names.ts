/** Names that a program makes up to find its operator: many domains that nobody registered, of letters that make no words. */
import { DNS_RESPONSE_CODE, DNS_TYPE } from "@lanthorn/packets";
import type { Allowed } from "../allowances.ts";
import { isBlocked } from "../facts/answer-facts.ts";
import { RANDOM_BELOW, scorePairs } from "../facts/pair-score.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import { HOUR, MAX_SAMPLES, type NamedExchange, type OnSuspicion } from "../suspicion.ts";

/** A domain that was asked for. */
interface Asked {
  at: number;
  readonly isMissing: boolean;
  /** False for labels that are too short to be judged too. */
  readonly looksRandom: boolean;
}

interface Client {
  /** By domain, the least recent first. */
  readonly domains: Map<string, Asked>;
  readonly repeats: Repeats;
}

const MAX_CLIENTS = 1024;
/** Of one client; a person's programs ask for some hundred an hour. */
const MAX_DOMAINS = 128;
/** Mistyped names and dead links are fewer. */
const MIN_RANDOM = 10;
/** Of all domains that the client asked for. */
const MISSING_SHARE = 0.25;
/** Of those that are not there. */
const RANDOM_SHARE = 0.6;
const MIN_LABEL = 7;

/** HTTPS, RFC 9460: browsers ask for it beside the address. Mail servers ask for other types, of whatever their senders made up. */
const HTTPS = 65;
const TYPES: ReadonlySet<number> = new Set([DNS_TYPE.a, DNS_TYPE.aaaa, HTTPS]);

/** Detects generated names. */
export interface GeneratedNamesDetector {
  answer(exchange: NamedExchange): void;
  readonly evicted: number;
}

/** A client's domains of the last hour are kept, up to a bound. */
export function createGeneratedNamesDetector(deps: { readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): GeneratedNamesDetector {
  const clients = createRecentMap<string, Client>(MAX_CLIENTS);

  function judge(exchange: NamedExchange, { domains, repeats }: Client): void {
    const { at, client, server, name, type } = exchange;
    const random: string[] = [];
    let [missing, all] = [0, 0];
    for (const [domain, asked] of domains) {
      if (Math.abs(at - asked.at) > HOUR) continue;
      all += 1;
      if (asked.isMissing) missing += 1;
      if (asked.isMissing && asked.looksRandom) random.push(domain);
    }
    if (random.length < MIN_RANDOM || missing / all < MISSING_SHARE || random.length / missing < RANDOM_SHARE) return;
    const count = countOne(repeats, at, missing);
    if (count === 0) return;
    deps.onSuspicion({
      kind: "generated_names", campaign: "", client, server, at, name, type, samples: random.slice(-MAX_SAMPLES), count, severity: "high", techniques: ["T1568.002"],
      signals: [
        `${missing} of ${all} domains that it asked for within an hour do not exist`,
        `the letters of ${random.length} of these are put together as no words are`,
      ],
    });
  }

  return {
    answer(exchange) {
      const { client, domain, publicSuffix, isPrivateSuffix, type, message, at } = exchange;
      const isMissing = message.responseCode === DNS_RESPONSE_CODE.nameError;
      if (publicSuffix === null || !TYPES.has(type) || (!isMissing && message.responseCode !== DNS_RESPONSE_CODE.noError)) return;
      let known = clients.get(client);
      // Names that exist count from the first that does not: most clients never ask for one.
      if (!known && !isMissing) return;
      if (isMissing && (isBlocked(message) || deps.isAllowed(exchange.name))) return;
      if (!known) {
        known = { domains: new Map(), repeats: createRepeats() };
        clients.put(client, known);
      }
      // Content is named by hashes below the suffixes of private operators: each of these counts once.
      const key = isPrivateSuffix ? publicSuffix : domain;
      const before = known.domains.get(key);
      known.domains.delete(key);
      known.domains.set(key, before?.isMissing === false ? { ...before, at } : { at, isMissing, looksRandom: isMissing && looksRandom(domain, publicSuffix) });
      if (known.domains.size > MAX_DOMAINS) known.domains.delete(known.domains.keys().next().value as string);
      if (isMissing) judge(exchange, known);
    },
    get evicted() {
      return clients.evicted;
    },
  };
}

/** @param domain One label and its suffix. */
function looksRandom(domain: string, suffix: string): boolean {
  const label = domain.slice(0, domain.length - suffix.length - 1);
  return label.length >= MIN_LABEL && !label.startsWith("xn--") && scorePairs(label) < RANDOM_BELOW;
}
