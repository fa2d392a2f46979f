import type { HostFact } from "../facts.ts";

/** What a MAC without an address has announced: a DHCP client sends its name before it has an address. */
export interface PendingHost {
  /** Evidence from its behavior. */
  facts: readonly HostFact[];
  name: string | null;
  /** Monotonic milliseconds when it last asked for an address, or null. */
  dhcpAt: number | null;
}

/** More than that many hosts do not boot at once; a flood pushes out the oldest. */
const MAX_PENDING_HOSTS = 1024;

interface PendingHosts {
  has(key: number): boolean;
  /** The pending host of this MAC, created if it is not there. */
  meet(key: number): PendingHost;
  /** Removes a pending host: it has an address now. */
  take(key: number): PendingHost | undefined;
}

/** Holds 1024 MACs at most; the one that was met first leaves for the next. */
export function createPendingHosts(): PendingHosts {
  const byMac = new Map<number, PendingHost>();
  return {
    has: (key) => byMac.has(key),
    meet(key) {
      const known = byMac.get(key);
      if (known) return known;
      const oldest = byMac.size >= MAX_PENDING_HOSTS ? byMac.keys().next().value : undefined;
      if (oldest !== undefined) byMac.delete(oldest);
      const pendingHost: PendingHost = { name: null, dhcpAt: null, facts: [] };
      byMac.set(key, pendingHost);
      return pendingHost;
    },
    take(key) {
      const pendingHost = byMac.get(key);
      byMac.delete(key);
      return pendingHost;
    },
  };
}
