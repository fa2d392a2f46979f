import type { SwitchFact } from "./store.ts";
import { switchKey } from "./switch-facts.ts";

/** A port of a switch at which somebody is. */
export interface SwitchPort {
  readonly fact: SwitchFact;
  readonly port: string;
  readonly vlan: number | null;
}

/** A cable between two switches, by what each hears at which port; the second's is empty where it does not hear the first. */
export interface SwitchLink {
  readonly from: SwitchPort;
  readonly to: SwitchFact;
  readonly toPort: string;
}

/**
 * Where everybody hangs, by all that a site's switches hear. Behind a cable to another switch everybody is heard who is behind that one:
 * such a port is no
 * host's. Of several ports left, a host's is the one with the fewest, as others hear it through further machines.
 * @returns Hosts' ports by their MAC, and cables between switches that hear each other on ports with few MACs; none where it is not clear
 * which is next.
 */
export function readHostPorts(
  switches: readonly SwitchFact[],
): { readonly hosts: ReadonlyMap<string, SwitchPort>; readonly links: readonly SwitchLink[] } {
  const bridges = switches.filter(({ report }) => report.ports.some(({ mac_count: count }) => count > 0));
  const owners = new Map(bridges.flatMap((fact) => fact.report.macs.map((mac) => [mac, fact] as const)));
  const heard = switches.flatMap((fact) => fact.report.hosts.map(({ mac, port, vlan }) => ({ mac, fact, port, vlan })));
  /** Who is heard of at each port, and which other switches are. */
  const ports = new Map<string, { macs: number; readonly others: Set<SwitchFact> }>();
  const placeOf = ({ fact, port }: SwitchPort) => JSON.stringify([switchKey(fact), port]);
  for (const one of heard) {
    const at = ports.get(placeOf(one)) ?? { macs: 0, others: new Set() };
    ports.set(placeOf(one), at);
    at.macs += 1;
    const owner = owners.get(one.mac);
    if (owner && owner !== one.fact) at.others.add(owner);
  }
  const isBetter = (a: SwitchPort, b: SwitchPort) => {
    const [first, second] = [ports.get(placeOf(a)), ports.get(placeOf(b))];
    if (a.fact.isCurrent !== b.fact.isCurrent) return a.fact.isCurrent;
    const [behind, beside] = [(first?.others.size ?? 0) > 0, (second?.others.size ?? 0) > 0];
    if (behind !== beside) return beside;
    return first?.macs === second?.macs ? a.fact.lastSeen > b.fact.lastSeen : (first?.macs ?? 0) < (second?.macs ?? 0);
  };
  const hosts = new Map<string, SwitchPort>();
  const toSwitches: (SwitchPort & { readonly to: SwitchFact })[] = [];
  for (const { mac, ...at } of heard) {
    const to = owners.get(mac);
    if (to) {
      if (to !== at.fact) toSwitches.push({ ...at, to });
      continue;
    }
    const other = hosts.get(mac);
    if (!other || isBetter(at, other)) hosts.set(mac, at);
  }
  return { hosts, links: linksOf(toSwitches) };
}

function linksOf(heard: readonly (SwitchPort & { readonly to: SwitchFact })[]): readonly SwitchLink[] {
  const ports = new Map<SwitchFact, Map<SwitchFact, string>>();
  for (const { fact, port, to } of heard) ports.set(fact, (ports.get(fact) ?? new Map<SwitchFact, string>()).set(to, port));
  const portTo = (from: SwitchFact, to: SwitchFact) => ports.get(from)?.get(to);
  const links = new Map<string, SwitchLink>();
  for (const { to, ...from } of heard) {
    const others = [...(ports.get(from.fact) ?? [])].flatMap(([other, port]) => (port === from.port && other !== to ? [other] : []));
    // Whoever hears both at one port is not between them.
    const isNext = others.every((other) => portTo(other, to) !== undefined && portTo(other, to) === portTo(other, from.fact));
    const key = JSON.stringify([switchKey(from.fact), switchKey(to)].toSorted());
    if (isNext && !links.has(key)) links.set(key, { from, to, toPort: portTo(to, from.fact) ?? "" });
  }
  return [...links.values()];
}
