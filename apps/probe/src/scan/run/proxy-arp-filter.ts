import { macKey } from "../../hosts/host.ts";
import { createMacCounts } from "./mac-counts.ts";
import type { HostTarget } from "../../probing/frames/packet.ts";

/** A MAC that answers for addresses at which nobody is: a router with proxy ARP. */
export interface ArpProxy {
  readonly mac: Uint8Array;
  /** How many it answers for. */
  readonly addresses: number;
}

/** Tells hosts from a router that answers ARP for networks behind it, or for every address that is asked for. */
export interface ProxyArpFilter {
  /** A host that answered. It is passed on at once, or held back while its MAC may be such a router's. */
  add(host: HostTarget): void;
  /**
   * All have answered: asks those that are held back for a sign of their own, passes on who gives one, and says which MACs are routers'.
   */
  settle(): Promise<void>;
}

/** Addresses of a MAC that are believed without asking: a host with some containers or virtual servers has as many. */
const BELIEVED = 4;
/** No host has more, whatever answers at them; a router that makes up a network has. */
const MAX_ADDRESSES = 512;
/** So many are asked whether they are there. */
const MAX_HELD = 4096;
/** Of a server's many addresses some give no sign, behind its own packet filter; more of them are nobody's. */
const SILENT = { fewest: 8, share: 0.1 } as const;

/**
 * @param deps.take Told each host that is one.
 * @param deps.areThere Which of some hosts give a sign of their own, beyond ARP.
 */
export function createProxyArpFilter(deps: {
  readonly take: (host: HostTarget) => void;
  readonly areThere: (hosts: readonly HostTarget[]) => Promise<ReadonlySet<number>>;
  readonly onProxy: (proxy: ArpProxy) => void;
  /** In [0, 1). */
  readonly random: () => number;
}): ProxyArpFilter {
  const addresses = createMacCounts(deps.random);
  const held = new Map<number, HostTarget[]>();
  /** How many addresses each was reported with. */
  const published = new Map<number, number>();

  const judge = async (key: number, hosts: readonly HostTarget[], mac: Uint8Array) => {
    const count = addresses.of(key);
    const there = await deps.areThere(hosts);
    const silent = hosts.length - there.size;
    const isServer = count <= MAX_ADDRESSES && silent < Math.max(SILENT.fewest, hosts.length * SILENT.share);
    // Who makes up addresses by the hundred makes up their answers, too.
    const isMadeUp = count > MAX_ADDRESSES && silent < hosts.length / 2;
    for (const host of hosts) if (isServer || (!isMadeUp && there.has(host.ip))) deps.take(host);
    if (isServer || count <= (published.get(key) ?? 0)) return;
    published.set(key, count);
    deps.onProxy({ mac, addresses: count });
  };
  return {
    add(host) {
      const key = macKey(host.mac);
      const count = addresses.add(key);
      if (count <= BELIEVED) return deps.take(host);
      const others = held.get(key);
      if (!others) held.set(key, [host]);
      else if (others.length < MAX_HELD) others.push(host);
    },
    async settle() {
      const waiting = [...held];
      held.clear();
      for (const [key, hosts] of waiting) {
        const [first] = hosts;
        if (first) await judge(key, hosts, first.mac);
      }
    },
  };
}
