import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { type HostFact, mergeFacts, newsOf, type SaidFact } from "../hosts/facts.ts";
import { type HostNames, setName } from "../hosts/names.ts";
import { describeRoutedHost } from "./routed-host.ts";
import { seenNow } from "../hosts/service-facts.ts";
import type { Nameable } from "../naming/reverse-names.ts";

/**
 * Hosts behind a router that a scan has found. No MAC is theirs and no frame shows that they live, so they are
 * no part of the table of hosts: they are published as the scan sees them, known by their addresses. Whether they
 * stay is seen by the routed watch, where it has their network.
 */
export interface RoutedHosts {
  add(ip: string): void;
  /** A service has said something of its host; nothing where that is none of these. */
  learn(ip: string, found: readonly SaidFact[]): void;
  /** DNS calls an address so; nothing where that is none of these. */
  noteName(ip: string, name: string): void;
  /** The events since the last call. */
  take(): readonly ProbeEvent[];
}

interface Found {
  readonly foundAt: number;
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
  const pending = new Set<string>();
  const nameless = new Set<string>();
  return {
    add(ip) {
      hosts.set(ip, { foundAt: clock.now(), facts: [], names: {} });
      pending.add(ip);
      nameless.add(ip);
    },
    learn(ip, found) {
      const host = hosts.get(ip);
      if (!host || newsOf(host.facts, found, clock.now()).length === 0) return;
      host.facts = mergeFacts(host.facts, seenNow(found, clock.now()));
      pending.add(ip);
    },
    noteName(ip, name) {
      const host = hosts.get(ip);
      if (host && setName(host, "reverse-dns", name, clock.now())) pending.add(ip);
    },
    take() {
      for (const address of nameless) {
        if (!deps.wantName({ address, reverseDueAt: 0, reverseFailures: 0 })) break;
        nameless.delete(address);
      }
      const at = toInstant(clock.now());
      const events = [...pending].map((address): ProbeEvent => {
        const host = hosts.get(address) as Found;
        return { type: "host_found", occurred_at: at, data: describeRoutedHost({ address, ...host }, host.facts, at) };
      });
      pending.clear();
      return events;
    },
  };
}
