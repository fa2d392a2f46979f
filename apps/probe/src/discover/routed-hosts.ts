import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { type HostFact, mergeFacts, newsOf, type SaidFact } from "../hosts/facts.ts";
import { seenNow } from "../hosts/service-facts.ts";

/**
 * Hosts behind a router that a scan has found. No MAC is theirs and no frame shows that they live, so they are no part of the table of hosts:
 * they are told as the scan sees them, known by their addresses.
 */
export interface RoutedHosts {
  add(ip: string): void;
  /** A service has said something of its host; nothing where that is none of these. */
  learn(ip: string, found: readonly SaidFact[]): void;
  /** What is to be told since the last time. */
  take(): readonly ProbeEvent[];
}

/** An answer that only the host itself can have given. */
const CONFIDENCE = 0.9;

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
      const events = [...untold].map((ip): ProbeEvent => ({
        type: "host_found", occurred_at: at,
        data: {
          ip, mac: "", hostname: "", vendor: "", addresses: [ip],
          evidence: [...(facts.get(ip) ?? []), { field: "ip", value: ip, source: "scan", confidence: CONFIDENCE, seen_at: at }],
        },
      }));
      untold.clear();
      return events;
    },
  };
}
