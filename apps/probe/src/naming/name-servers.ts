import { createReverseResolver, type ReverseResolver } from "./reverse-names.ts";

/** Asks the site's name servers, whoever they are at the moment. */
export interface NameServers {
  reverseNames(address: string): Promise<readonly string[]>;
  close(): void;
}

/**
 * @param deps.servers Addresses to ask, with a port where it is not 53, read at each question; a change makes a new resolver.
 * @param deps.isExcluded Whether nothing may be sent to an address.
 */
export function createNameServers(
  deps: { readonly servers: () => readonly string[]; readonly isExcluded: (ip: string) => boolean },
): NameServers {
  let current: { readonly key: string; readonly resolver: ReverseResolver | null } = { key: "", resolver: null };

  function resolverNow(): ReverseResolver | null {
    const servers = deps.servers().filter((server) => isUsable(server) && !deps.isExcluded(withoutPort(server)));
    const key = servers.join();
    if (key === current.key) return current.resolver;
    current.resolver?.close();
    current = { key, resolver: createReverseResolver(servers) };
    return current.resolver;
  }

  return {
    reverseNames: (address) => resolverNow()?.reverseNames(address) ?? Promise.resolve([]),
    close: () => current.resolver?.close(),
  };
}

/** A link-local address means nothing without its interface, which the resolver takes from nobody. */
function isUsable(server: string): boolean {
  return !server.toLowerCase().startsWith("fe80:");
}

/** `10.0.0.1:5353` and `[fd00::1]:5353` are how the resolver spells a port. */
function withoutPort(server: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(server)?.[1] ?? /^([\d.]+):\d+$/.exec(server)?.[1] ?? server;
}
