import { lookup, Resolver } from "node:dns/promises";

/** Every address that a host's name has now. @throws Error when it has none, or nobody says. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

const TIMEOUT_MS = 2000;
const TRIES = 2;
/** `lookup` holds one of Node's four threads until it ends, and files, passwords and logins need them too. */
const MOST_LOOKUPS = 2;

/**
 * Asks the name servers without a thread, so that a server that never answers delays only its own names; then, for what
 * they do not know, the system's own way, which also reads /etc/hosts.
 */
export function createHostResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const waiting: (() => void)[] = [];
  let underWay = 0;

  const systemLookup = async (host: string): Promise<readonly string[]> => {
    if (underWay >= MOST_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
    underWay += 1;
    try {
      return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
    } finally {
      underWay -= 1;
      waiting.shift()?.();
    }
  };

  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const timedOut = answers.find((answer) => answer.status === "rejected" && (answer.reason as NodeJS.ErrnoException).code === "ETIMEOUT");
    if (timedOut?.status === "rejected") throw timedOut.reason;
    return systemLookup(host);
  };
}
