import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { type HostFact, mergeFacts, newsOf, type SaidFact } from "../hosts/facts.ts";
import { type HostNames, setName } from "../hosts/names.ts";
import { describeRoutedHost } from "./routed-host.ts";
import { seenNow } from "../hosts/service-facts.ts";
import type { Nameable } from "../naming/reverse-names.ts";

/**
 * Hosts behind a router that a scan has found. No MAC is theirs and no frame shows that they live, so they are
 * no part of the table of hosts: they are told as the scan sees them, known by their addresses. Whether they
 * stay is seen by the routed watch, where it has their network.
 */
export interface RoutedHosts {
  add(ip: string): void;
  /** A service has said something of its host; nothing where that is none of these. */
  learn(ip: string, found: readonly SaidFact[]): void;
  /** DNS calls an address so; nothing where that is none of these. */
  noteName(ip: string, name: string): void;
  /** What is to be told since the last time. */
  take(): readonly ProbeEvent[];
}

interface Found {
  readonly foundWallAt: number;
  facts: readonly HostFact[];
  names: HostNames;
}

/** @param deps.wantName Asks DNS for a name of it. Returns false where it is to be wanted again. */
export function createRoutedHosts(deps: {
  readonly clock: Pick<Clock, "now">;
  readonly wantName: (host: Nameable) => boolean;
}): RoutedHosts {
  const { clock } = deps;
  const hosts = new Map<string, Found>();
  const untold = new Set<string>();
  const nameless = new Set<string>();
  return {
    add(ip) {
      hosts.set(ip, { foundWallAt: clock.now(), facts: [], names: {} });
      untold.add(ip);
      nameless.add(ip);
    },
    learn(ip, found) {
      const host = hosts.get(ip);
      if (!host || newsOf(host.facts, found, clock.now()).length === 0) return;
      host.facts = mergeFacts(host.facts, seenNow(found, clock.now()));
      untold.add(ip);
    },
    noteName(ip, name) {
      const host = hosts.get(ip);
      if (host && setName(host, "reverse-dns", name, clock.now())) untold.add(ip);
    },
    take() {
      for (const address of nameless) {
        if (!deps.wantName({ address, reverseDueAt: 0, reverseFailures: 0 })) break;
        nameless.delete(address);
      }
      const at = toInstant(clock.now());
      const events = [...untold].map((address): ProbeEvent => {
        const host = hosts.get(address) as Found;
        return { type: "host_found", occurred_at: at, data: describeRoutedHost({ address, ...host }, host.facts, at) };
      });
      untold.clear();
      return events;
    },
  };
}
