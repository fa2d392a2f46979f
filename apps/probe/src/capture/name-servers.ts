import { parseIp } from "@lanthorn/packets";
import { createExclusions, parsePrefixes } from "../discover/exclusions.ts";
import { createReverseResolver, type ReverseResolver } from "../discover/reverse-names.ts";

/** Asks the site's name servers, whoever they are at the moment. */
export interface NameServers {
  reverseNames(address: string): Promise<readonly string[]>;
  close(): void;
}

/**
 * @param deps.servers Addresses to ask, with a port where it is not 53, read at each question; a change makes a new resolver.
 * @param deps.excluded Addresses and prefixes that nothing is sent to.
 */
export function createNameServers(
  deps: { readonly servers: () => readonly string[]; readonly excluded: () => readonly string[] },
): NameServers {
  let current: { readonly key: string; readonly resolver: ReverseResolver | null } = { key: "", resolver: null };

  function resolverNow(): ReverseResolver | null {
    const [servers, excluded] = [deps.servers(), deps.excluded()];
    const key = `${servers.join()} ${excluded.join()}`;
    if (key === current.key) return current.resolver;
    current.resolver?.close();
    current = { key, resolver: createReverseResolver(servers.filter((server) => mayAsk(server, excluded))) };
    return current.resolver;
  }

  return {
    reverseNames: (address) => resolverNow()?.reverseNames(address) ?? Promise.resolve([]),
    close: () => current.resolver?.close(),
  };
}

function mayAsk(server: string, excluded: readonly string[]): boolean {
  const bytes = parseIp(withoutPort(server));
  const prefixes = parsePrefixes(excluded);
  // A link-local address means nothing without its interface, and the resolver cannot be told.
  if (!bytes || server.toLowerCase().startsWith("fe80:") || "wrong" in prefixes) return false;
  return !createExclusions(prefixes.prefixes).holds(bytes);
}

/** `10.0.0.1:5353` and `[fd00::1]:5353` are how the resolver spells a port. */
function withoutPort(server: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(server)?.[1] ?? /^([\d.]+):\d+$/.exec(server)?.[1] ?? server;
}
