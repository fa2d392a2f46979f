/** A resolver that is not the site's, and leads many domains to one place. */
import { formatIp } from "@lanthorn/packets";
import type { Allowed } from "../allowances.ts";
import { addressesOf, scopeOf } from "../facts/answer-facts.ts";
import { networkOf } from "../facts/network.ts";
import { isPublicResolver } from "../public-resolvers.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import type { SiteResolvers } from "../site-resolvers.ts";
import { type NamedExchange, type OnSuspicion } from "../suspicion.ts";

interface Server {
  /** Network that it names → domains that the site's resolvers have elsewhere. */
  readonly astray: Map<string, Set<string>>;
  readonly repeats: Repeats;
}

const MAX_NAMES = 4096;
const MAX_SERVERS = 128;
const MAX_NETWORKS = 16;
const MIN_DOMAINS = 3;

/** Detects rogue resolvers. */
export interface RogueResolverDetector {
  answer(exchange: NamedExchange): void;
  readonly evicted: number;
}

/** What the site's resolvers say of names is kept, up to a bound. */
export function createRogueResolverDetector(deps: { readonly site: SiteResolvers; readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): RogueResolverDetector {
  const { site } = deps;
  const known = createRecentMap<string, ReadonlySet<string>>(MAX_NAMES);
  const servers = createRecentMap<string, Server>(MAX_SERVERS);

  function compare(exchange: NamedExchange): void {
    const { server, client, name, type, domain, message, at } = exchange;
    const expected = known.peek(`${type} ${name}`);
    const [first] = addressesOf(message);
    if (!expected || !first || scopeOf(first.bytes) === "unspecified" || deps.isAllowed(name)) return;
    const network = networkOf(first.bytes);
    if (addressesOf(message).some(({ bytes }) => expected.has(networkOf(bytes)))) return;
    const found = servers.get(server) ?? { astray: new Map<string, Set<string>>(), repeats: createRepeats() };
    servers.put(server, found);
    const domains = found.astray.get(network) ?? new Set();
    if (domains.size < MIN_DOMAINS) domains.add(domain);
    if (found.astray.size < MAX_NETWORKS) found.astray.set(network, domains);
    if (domains.size < MIN_DOMAINS) return;
    const count = countOne(found.repeats, at);
    if (count === 0) return;
    deps.onSuspicion({
      kind: "rogue_resolver", campaign: server, client, server, at, name, type, samples: [...domains], count, severity: "high", techniques: ["T1557"],
      signals: [
        `the site's resolvers are ${site.describe()}; ${server} is none of them`,
        `it leads ${domains.size} domains to the network of ${formatIp(first.bytes)}, where the site's resolvers have other addresses for each`,
      ],
    });
  }

  return {
    answer(exchange) {
      const { server, message, name, type, publicSuffix } = exchange;
      if (publicSuffix === null || !site.areKnown()) return;
      if (site.has(server)) {
        const networks = new Set(addressesOf(message).map(({ bytes }) => networkOf(bytes)));
        if (networks.size > 0) known.put(`${type} ${name}`, networks);
      } else if (!isPublicResolver(server)) compare(exchange);
    },
    get evicted() {
      return known.evicted;
    },
  };
}
