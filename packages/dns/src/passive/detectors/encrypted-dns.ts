/** DNS in TLS or HTTPS past the resolver of the site: what is asked there, nobody of the site sees. */
import type { Allowed } from "../allowances.ts";
import { isEncryptedResolver, isPublicResolver } from "../public-resolvers.ts";
import { countOne, createRepeats, type Repeats } from "../repeats.ts";
import { createRecentMap } from "../recent-map.ts";
import type { SiteResolvers } from "../site-resolvers.ts";
import { type OnSuspicion } from "../suspicion.ts";

/** The first message of a client in TLS or QUIC. */
export interface HelloFact {
  readonly client: string;
  readonly server: string;
  readonly port: number;
  /** Null where it says none. */
  readonly serverName: string | null;
  readonly alpn: readonly string[];
  readonly isQuic: boolean;
  /** Microseconds since the epoch. */
  readonly at: number;
}

/** DNS over TLS, and over QUIC. RFC 7858 section 3.1, RFC 9250 section 4.1.1. */
const DOT_PORT = 853;
/** RFC 7858, RFC 9250. */
const DNS_ALPN: ReadonlySet<string> = new Set(["dot", "doq"]);
/** DNS over HTTPS needs HTTP/2 at least. RFC 8484 section 5.2. */
const HTTP_ALPN: ReadonlySet<string> = new Set(["h2", "h3"]);
const MAX_PAIRS = 1024;

/** Detects encrypted DNS past the site's resolver. */
export interface EncryptedDnsDetector {
  hello(fact: HelloFact): void;
  readonly evicted: number;
}

/** Says each pair of client and server once a minute. */
export function createEncryptedDnsDetector(deps: { readonly site: SiteResolvers; readonly isAllowed: Allowed; readonly onSuspicion: OnSuspicion }): EncryptedDnsDetector {
  const pairs = createRecentMap<string, Repeats>(MAX_PAIRS);
  return {
    hello(fact) {
      const { client, server, serverName, at } = fact;
      const name = (serverName ?? "").toLowerCase();
      const signals = signalsOf(fact, name);
      if (signals.length < 2 || deps.site.has(server) || deps.isAllowed(name)) return;
      const campaign = name === "" ? server : name;
      const key = `${client} ${campaign}`;
      const repeats = pairs.get(key) ?? createRepeats();
      pairs.put(key, repeats);
      const count = countOne(repeats, at);
      if (count > 0) deps.onSuspicion({ kind: "encrypted_dns", campaign, client, server, at, name, type: 0, samples: name === "" ? [] : [name], count, severity: "low", techniques: ["T1572"], signals });
    },
    get evicted() {
      return pairs.evicted;
    },
  };
}

function signalsOf({ server, port, alpn, isQuic }: HelloFact, name: string): string[] {
  const isDnsPort = port === DOT_PORT;
  return [
    isDnsPort ? `${isQuic ? "QUIC" : "TLS"} at port ${DOT_PORT}, which is for DNS` : null,
    alpn.some((protocol) => DNS_ALPN.has(protocol)) ? "the client offers DNS as the protocol inside" : null,
    isDnsPort && alpn.length === 0 ? "the client names no protocol inside, as clients of DNS over TLS do" : null,
    name !== "" && isEncryptedResolver(name) ? `${name} is a resolver for anybody` : null,
    isPublicResolver(server) ? `${server} is the address of a resolver for anybody` : null,
    !isDnsPort && alpn.some((protocol) => HTTP_ALPN.has(protocol)) ? "the client offers HTTP/2 or HTTP/3, which DNS over HTTPS needs" : null,
  ].filter((signal) => signal !== null);
}
