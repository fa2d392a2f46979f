/** A name whose addresses are many, in networks all over the world, and others again each time: of hosts that somebody took over. */
import type { Allowed } from "../allowances.ts";
import { addressesOf, isBlocked, scopeOf } from "../facts/answer-facts.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import { HOUR, MINUTE, type NamedExchange, type OnSuspicion } from "../suspicion.ts";

interface Fluxing {
  begunAt: number;
  /** As numbers: IPv4 alone. Whoever lends hosts for it has no IPv6. */
  readonly addresses: Set<number>;
  /** Answers that brought an address which no answer before had. */
  renewals: number;
  longestTtl: number;
  readonly repeats: Repeats;
}

const MAX_NAMES = 2048;
const MAX_ADDRESSES = 128;
/** A region of a large provider has some hundred networks of /16, in eight or so of /8: these bounds lie above what one name there has. */
const MIN_ADDRESSES = 24;
const MIN_NETWORKS = 18;
const MIN_REGIONS = 10;
const MIN_RENEWALS = 5;
const MIN_TIME = 10 * MINUTE;
/** RFC 1912 recommends hours to days; content networks have minutes too, but not these addresses. */
const SHORT_TTL_SECONDS = 300;

/** Detects fast flux. */
export interface FastFluxDetector {
  answer(exchange: NamedExchange): void;
  readonly evicted: number;
}

/** Addresses of a name within an hour are kept, up to a bound; whichever client asked for it. */
export function createFastFluxDetector(deps: { readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): FastFluxDetector {
  const names = createRecentMap<string, Fluxing>(MAX_NAMES);

  function judge(exchange: NamedExchange, { addresses, renewals, longestTtl, begunAt, repeats }: Fluxing): void {
    const { at, name, client, server, type, domain } = exchange;
    if (addresses.size < MIN_ADDRESSES || renewals < MIN_RENEWALS || at - begunAt < MIN_TIME || longestTtl > SHORT_TTL_SECONDS) return;
    const networks = new Set([...addresses].map((address) => address >>> 16)).size;
    const regions = new Set([...addresses].map((address) => address >>> 24)).size;
    if (networks < MIN_NETWORKS || regions < MIN_REGIONS || deps.isAllowed(name)) return;
    const count = countOne(repeats, at);
    if (count === 0) return;
    deps.onSuspicion({
      kind: "fast_flux", campaign: domain, client, server, at, name, type, samples: [name], count, severity: "medium", techniques: ["T1568.001", "T1090.003"],
      signals: [
        `${addresses.size} addresses in ${networks} networks (/16) within ${Math.round((at - begunAt) / MINUTE)} minutes`,
        `${renewals} answers brought new ones, and none may be kept longer than ${longestTtl} s`,
      ],
    });
  }

  return {
    answer(exchange) {
      const { message, name, publicSuffix, at } = exchange;
      if (publicSuffix === null || message.answers.length === 0 || isBlocked(message)) return;
      let known = names.get(name);
      if (known && Math.abs(at - known.begunAt) > HOUR) {
        names.delete(name);
        known = undefined;
      }
      if (!known) {
        known = { begunAt: at, addresses: new Set(), renewals: 0, longestTtl: 0, repeats: createRepeats() };
        names.put(name, known);
      }
      const before = known.addresses.size;
      for (const { bytes, ttlSeconds } of addressesOf(message)) {
        if (bytes.length !== 4 || scopeOf(bytes) !== "public") continue;
        known.longestTtl = Math.max(known.longestTtl, ttlSeconds);
        if (known.addresses.size < MAX_ADDRESSES) known.addresses.add(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0));
      }
      if (known.addresses.size > before) known.renewals += 1;
      judge(exchange, known);
    },
    get evicted() {
      return names.evicted;
    },
  };
}
