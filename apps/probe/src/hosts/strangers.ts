import type { HostFact } from "./facts.ts";

/** What a MAC without an address said: a DHCP client tells its name before it has one. */
export interface Stranger {
  /** What its ways say of it. */
  facts: readonly HostFact[];
  name: string | null;
  /** Monotonic milliseconds when it last asked for an address, or null. */
  dhcpAt: number | null;
}

/** More than that many hosts do not boot at once; a flood pushes out the oldest. */
const MOST_STRANGERS = 1024;

export interface Strangers {
  has(key: number): boolean;
  /** The stranger of this MAC, made if it is not there. */
  meet(key: number): Stranger;
  /** Takes a stranger out: it has an address now. */
  take(key: number): Stranger | undefined;
}

export function createStrangers(): Strangers {
  const byMac = new Map<number, Stranger>();
  return {
    has: (key) => byMac.has(key),
    meet(key) {
      const known = byMac.get(key);
      if (known) return known;
      const oldest = byMac.size >= MOST_STRANGERS ? byMac.keys().next().value : undefined;
      if (oldest !== undefined) byMac.delete(oldest);
      const stranger: Stranger = { name: null, dhcpAt: null, facts: [] };
      byMac.set(key, stranger);
      return stranger;
    },
    take(key) {
      const stranger = byMac.get(key);
      byMac.delete(key);
      return stranger;
    },
  };
}
