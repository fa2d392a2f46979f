import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { type HostFact, mergeFacts, newsOf, type SaidFact } from "../hosts/facts.ts";
import { describeRoutedHost } from "../hosts/routed-host.ts";
import { seenNow } from "../hosts/service-facts.ts";

/**
 * Hosts behind a router that a scan has found. No MAC is theirs and no frame shows that they live, so they are
 * no part of the table of hosts: they are told as the scan sees them, known by their addresses. Whether they
 * stay is seen by the routed watch, where it has their network.
 */
export interface RoutedHosts {
  add(ip: string): void;
  /** A service has said something of its host; nothing where that is none of these. */
  learn(ip: string, found: readonly SaidFact[]): void;
  /** What is to be told since the last time. */
  take(): readonly ProbeEvent[];
}

export function createRoutedHosts({ clock }: { readonly clock: Pick<Clock, "now"> }): RoutedHosts {
  const facts = new Map<string, readonly HostFact[]>();
  const untold = new Set<string>();
  return {
    add(ip) {
      facts.set(ip, []);
      untold.add(ip);
    },
    learn(ip, found) {
      const known = facts.get(ip);
      if (!known || newsOf(known, found, clock.now()).length === 0) return;
      facts.set(ip, mergeFacts(known, seenNow(found, clock.now())));
      untold.add(ip);
    },
    take() {
      const at = toInstant(clock.now());
      const events = [...untold].map((ip): ProbeEvent =>
        ({ type: "host_found", occurred_at: at, data: describeRoutedHost(ip, facts.get(ip) ?? [], at) }));
      untold.clear();
      return events;
    },
  };
}
