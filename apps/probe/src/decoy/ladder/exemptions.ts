/** Who may touch decoys: this machine, and scanners that the operator has named. They are counted, and reported to nobody. */
import { BlockList, isIPv6 } from "node:net";
import type { ExemptionSettings } from "../settings.ts";

/** Decides of each connection. */
export interface Exemptions {
  /** Counts it where it is exempt. @param at The time of the day counts in the machine's own time zone. @returns Whether it is. */
  take(source: string, port: number, at: Date): boolean;
  /** How often each was used since the start. */
  counts(): readonly { readonly name: string; readonly connections: number }[];
}

/** How the machine's own connections are counted: those of its probe's scans, and its monitoring. */
const OWN = "this machine";

/** @param ownAddresses Of all interfaces; they may change. */
export function createExemptions(settings: readonly ExemptionSettings[], ownAddresses: () => readonly string[]): Exemptions {
  const given = settings.map(({ name, addresses, ports, hours }) => ({ name, list: toList(addresses), ports: new Set(ports), hours: hours && toMinutes(hours) }));
  const counts = new Map([OWN, ...settings.map(({ name }) => name)].map((name) => [name, 0]));
  const find = (source: string, port: number, at: Date): string | null => {
    if (ownAddresses().includes(source)) return OWN;
    const minute = at.getHours() * 60 + at.getMinutes();
    return given.find(({ list, ports, hours }) =>
      list.check(source, isIPv6(source) ? "ipv6" : "ipv4") && (ports.size === 0 || ports.has(port)) && (!hours || isWithin(minute, hours)))?.name ?? null;
  };
  return {
    take(source, port, at) {
      const name = find(source, port, at);
      if (name === null) return false;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return true;
    },
    counts: () => [...counts].map(([name, connections]) => ({ name, connections })),
  };
}

function toList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of addresses) {
    const [address = "", length] = text.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}

/** `22:00-04:30`, of which the end does not belong to it. */
function toMinutes(hours: string): readonly [number, number] {
  const [from = 0, to = 0] = hours.split("-").map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
  return [from, to];
}

function isWithin(minute: number, [from, to]: readonly [number, number]): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}
