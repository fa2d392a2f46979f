import { createBoundedMap } from "../../bounded-map.ts";

/** What speaks for a tunnel of VLANs: who is answered with two tags, and for how long. */
export interface TunnelEvidence {
  /**
   * A host is answered in an outer VLAN.
   * @param now Monotonic milliseconds.
   * @returns Whether that is enough to learn it.
   */
  note(outer: number, mac: string, now: number, isLearning: boolean): boolean;
  /** Whether hosts answer each other there for some seconds, up to now. */
  isLasting(outer: number, now: number): boolean;
}

interface Exchange {
  readonly since: number;
  lastAt: number;
  /** In how many different seconds somebody was answered. */
  seconds: number;
  readonly hosts: Set<string>;
}

const MAX_VLANS = 256;
/** An exchange that pauses for longer begins anew. */
const PAUSE_MS = 60_000;
const LASTING_SECONDS = 5;
const LEARNING_SECONDS = 15;
/** After the learning period: two hosts at each end, or two routers for longer. */
const NEW = { seconds: 60, hosts: 4, ms: 120_000, twoHostsMs: 600_000 } as const;

/** Keeps 256 outer VLANs; the one that was silent longest gives way. */
export function createTunnelEvidence(): TunnelEvidence {
  const exchanges = createBoundedMap<number, Exchange>(MAX_VLANS);
  return {
    note(outer, mac, now, isLearning) {
      let exchange = exchanges.get(outer);
      if (!exchange || now - exchange.lastAt > PAUSE_MS) exchange = { since: now, lastAt: Number.NEGATIVE_INFINITY, seconds: 0, hosts: new Set() };
      if (Math.floor(now / 1000) !== Math.floor(exchange.lastAt / 1000)) exchange.seconds += 1;
      exchange.lastAt = now;
      if (exchange.hosts.size < NEW.hosts) exchange.hosts.add(mac);
      exchanges.put(outer, exchange);
      if (isLearning) return exchange.seconds >= LEARNING_SECONDS;
      return exchange.seconds >= NEW.seconds && now - exchange.since >= (exchange.hosts.size < NEW.hosts ? NEW.twoHostsMs : NEW.ms);
    },
    isLasting(outer, now) {
      const exchange = exchanges.get(outer);
      return exchange !== undefined && exchange.seconds >= LASTING_SECONDS && now - exchange.lastAt <= PAUSE_MS;
    },
  };
}
