/** A public name that leads into the site: a page of the Internet reaches hosts of the site by it. */
import { formatIp } from "@lanthorn/packets";
import type { Allowed } from "../allowances.ts";
import { addressesOf, isBlocked, scopeOf } from "../facts/answer-facts.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import { MINUTE, type NamedExchange, type OnSuspicion } from "../suspicion.ts";

/** A name that has had a public address. */
interface PublicName {
  at: number;
  address: string;
  ttlSeconds: number;
  readonly repeats: Repeats;
}

const MAX_NAMES = 4096;
const MAX_DOMAINS = 1024;
/** Between the two answers: a page does not stay open for longer, and its maker wants it to be quick. */
const WITHIN = 10 * MINUTE;
/** Tools say 0 to 60; who has both addresses for a reason lets them be kept for minutes and hours. */
const SHORT_TTL_SECONDS = 60;
/** Names of one domain with private addresses, from which on that is how the site names its own hosts. */
const OWN_NAMES = 3;
/** Domains with one private address, from which on it is where a filter sends what it blocks. */
const FILTERED_DOMAINS = 3;

/** Detects rebinding. */
export interface RebindingDetector {
  answer(exchange: NamedExchange): void;
  readonly evicted: number;
}

/** Names that had public addresses are kept for some minutes, by client. */
export function createRebindingDetector(deps: { readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): RebindingDetector {
  const names = createRecentMap<string, PublicName>(MAX_NAMES);
  /** Domain → names of it that have private addresses; private address → domains. */
  const ownNames = createRecentMap<string, Set<string>>(MAX_DOMAINS);
  const filtered = createRecentMap<string, Set<string>>(MAX_DOMAINS);

  function judge(exchange: NamedExchange, known: PublicName, inside: { readonly address: string; readonly ttlSeconds: number }): void {
    const { client, server, domain, name, type, at } = exchange;
    const shortest = Math.min(known.ttlSeconds, inside.ttlSeconds);
    if (at - known.at > WITHIN || shortest > SHORT_TTL_SECONDS || inside.address === server || deps.isAllowed(name)) return;
    if ((ownNames.peek(domain)?.size ?? 0) >= OWN_NAMES || (filtered.peek(inside.address)?.size ?? 0) >= FILTERED_DOMAINS) return;
    const count = countOne(known.repeats, at);
    if (count === 0) return;
    deps.onSuspicion({
      kind: "rebinding", campaign: domain, client, server, at, name, type, samples: [name], count, severity: "medium", techniques: ["T1568"],
      signals: [`a public name had the address ${known.address}, and then ${inside.address} of the site`, `its address may be kept for ${shortest} s only`],
    });
  }

  return {
    answer(exchange) {
      const { client, name, domain, publicSuffix, message, at } = exchange;
      if (publicSuffix === null || message.answers.length === 0 || isBlocked(message)) return;
      const key = `${client} ${name}`;
      let inside: { readonly address: string; readonly ttlSeconds: number } | null = null;
      for (const { bytes, ttlSeconds } of addressesOf(message)) {
        const scope = scopeOf(bytes);
        if (scope === "public") {
          const known = names.get(key);
          if (known) Object.assign(known, { at, address: formatIp(bytes), ttlSeconds });
          else names.put(key, { at, address: formatIp(bytes), ttlSeconds, repeats: createRepeats() });
        } else if (scope === "private" || isLocalhost(bytes)) inside = { address: formatIp(bytes), ttlSeconds };
      }
      if (inside === null) return;
      note(ownNames, domain, name, OWN_NAMES);
      note(filtered, inside.address, domain, FILTERED_DOMAINS);
      const known = names.peek(key);
      if (known) judge(exchange, known, inside);
    },
    get evicted() {
      return names.evicted;
    },
  };
}

/** Not the other addresses of 127/8: lists answer with those. */
function isLocalhost(bytes: Uint8Array): boolean {
  return scopeOf(bytes) === "loopback" && bytes.at(-1) === 1;
}

function note(sets: ReturnType<typeof createRecentMap<string, Set<string>>>, key: string, value: string, most: number): void {
  const known = sets.get(key);
  if (!known) sets.put(key, new Set([value]));
  else if (known.size < most) known.add(value);
}
