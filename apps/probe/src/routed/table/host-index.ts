import type { RoutedHost } from "../routed-host.ts";

/** Hosts behind routers by their address and by the network that they are polled with. */
export interface RoutedHostIndex {
  readonly size: number;
  /** How many of them are online. */
  readonly online: number;
  all(): IterableIterator<RoutedHost>;
  get(address: string): RoutedHost | undefined;
  ofNetwork(network: string): readonly RoutedHost[];
  add(host: RoutedHost, network: string): void;
  remove(host: RoutedHost): void;
  /** Changes a host's presence. @returns Whether it was another. */
  setPresence(host: RoutedHost, presence: RoutedHost["presence"]): boolean;
  /** The host that is offline and was last seen before all others; undefined where nobody is offline. */
  longestOffline(): RoutedHost | undefined;
}

/** An empty index. A host's presence is changed by `setPresence` alone, so that the count of those online holds. */
export function createRoutedHostIndex(): RoutedHostIndex {
  const byAddress = new Map<string, RoutedHost>();
  const byNetwork = new Map<string, Set<RoutedHost>>();
  let online = 0;
  return {
    get size() {
      return byAddress.size;
    },
    get online() {
      return online;
    },
    all: () => byAddress.values(),
    get: (address) => byAddress.get(address),
    ofNetwork: (network) => [...(byNetwork.get(network) ?? [])],
    add(host, network) {
      byAddress.set(host.address, host);
      const there = byNetwork.get(network);
      if (there) there.add(host);
      else byNetwork.set(network, new Set([host]));
      if (host.presence === "online") online += 1;
    },
    remove(host) {
      byAddress.delete(host.address);
      for (const hosts of byNetwork.values()) hosts.delete(host);
      if (host.presence === "online") online -= 1;
    },
    setPresence(host, presence) {
      if (host.presence === presence) return false;
      host.presence = presence;
      online += presence === "online" ? 1 : -1;
      return true;
    },
    longestOffline: () =>
      [...byAddress.values()].filter(({ presence }) => presence === "offline").toSorted((a, b) => a.lastSeenAt - b.lastSeenAt)[0],
  };
}
