import { lookup, Resolver } from "node:dns/promises";
import type { Clock } from "@lanthorn/runtime";

/** Every address that a host's name has now. @throws Error when it has none, or nobody says. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

const TIMEOUT_MS = 2000;
const TRIES = 2;
/** `lookup` holds one of Node's four threads until it ends, and files, passwords and logins need them too. */
const MAX_LOOKUPS = 2;
/** Two questions for each of a thousand deliveries a second would be an attack on the name server. */
const KEPT_MS = 5000;
const KEPT_NAMES = 1000;

/**
 * Asks the name servers without a thread, so that a server that never answers delays only its own names; then, for what
 * they do not know, the system's own way, which also reads /etc/hosts. An answer is kept for five seconds.
 * @param options.servers Instead of the system's own, `address:port`.
 */
export function createHostResolver(
  deps: { readonly clock: Pick<Clock, "monotonic"> },
  options: { readonly servers?: readonly string[] } = {},
): ResolveHost {
  const kept = new Map<string, { readonly at: number; readonly addresses: Promise<readonly string[]> }>();
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let resolver = createResolver(options.servers);

  const systemLookup = async (host: string): Promise<readonly string[]> => {
    if (inFlight >= MAX_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
    inFlight += 1;
    try {
      return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
    } finally {
      inFlight -= 1;
      waiting.shift()?.();
    }
  };
  const resolve = async (host: string): Promise<readonly string[]> => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const codes = answers.map((answer) => (answer.status === "rejected" ? (answer.reason as NodeJS.ErrnoException).code : ""));
    // The machine may have moved to another network, which only a new resolver notices.
    if (codes.some((code) => code === "ETIMEOUT" || code === "ECONNREFUSED")) resolver = createResolver(options.servers);
    if (codes.includes("ETIMEOUT")) throw Object.assign(new Error(`the name servers do not answer for ${host}`), { code: "ETIMEOUT" });
    return systemLookup(host);
  };

  return async (host) => {
    const now = deps.clock.monotonic();
    const before = kept.get(host);
    if (before && now - before.at < KEPT_MS) return before.addresses;
    const addresses = resolve(host);
    kept.delete(host);
    kept.set(host, { at: now, addresses });
    if (kept.size > KEPT_NAMES) kept.delete(kept.keys().next().value ?? "");
    try {
      return await addresses;
    } catch (error) {
      kept.delete(host);
      throw error;
    }
  };
}

function createResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return resolver;
}
