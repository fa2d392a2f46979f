/** Who may touch decoys: this machine, and scanners that the operator has named. They are counted, and reported to nobody. */
import { BlockList, isIPv6 } from "node:net";
import type { DecoyExemption } from "@lanthorn/contract/uplink";
import type { ExemptionSettings } from "../settings.ts";

/** Decides of each connection. */
export interface Exemptions {
  /** Whether it is an address of this machine. */
  isOwn(source: string): boolean;
  /** Counts it where it is exempt. @param at The time of the day counts in the machine's own time zone. @returns Whether it is. */
  take(source: string, port: number, at: Date): boolean;
  /** Of a scan: counts it once for each of who are exempt. @param ports 0 for a ping, for which the ports that somebody may use do not matter. @returns Ports at which it is not exempt. */
  takeScan(source: string, ports: readonly number[], at: Date): readonly number[];
  /** Takes those of the site, in the place of those that it took before. */
  takeSite(exemptions: readonly DecoyExemption[]): void;
  /** How often each was used since the start. */
  counts(): readonly { readonly name: string; readonly connections: number }[];
}

/** How the machine's own connections are counted: those of its probe's scans, and its monitoring. */
const OWN = "this machine";
const PING = 0;

/** @param ownAddresses Of all interfaces; they may change. */
export function createExemptions(settings: readonly ExemptionSettings[], ownAddresses: () => readonly string[]): Exemptions {
  const ofFile = settings.map((one) => compile(one));
  let ofSite: readonly Compiled[] = [];
  const counts = new Map([OWN, ...settings.map(({ name }) => name)].map((name) => [name, 0]));
  /** Whoever is exempt for its source now, at whatever ports: looked up once for each who comes. */
  const exempting = (source: string, at: Date): readonly Pick<Compiled, "name" | "ports">[] => {
    if (ownAddresses().includes(source)) return [{ name: OWN, ports: new Set() }];
    const family = isIPv6(source) ? "ipv6" : "ipv4";
    const minute = at.getHours() * 60 + at.getMinutes();
    return [...ofFile, ...ofSite].filter(({ list, hours, untilMs }) => at.getTime() < untilMs && (!hours || isWithin(minute, hours)) && list.check(source, family));
  };
  const nameAt = (exempt: ReturnType<typeof exempting>, port: number): string | null => exempt.find(({ ports }) => ports.size === 0 || port === PING || ports.has(port))?.name ?? null;
  return {
    isOwn: (source) => ownAddresses().includes(source),
    take(source, port, at) {
      const name = nameAt(exempting(source, at), port);
      if (name === null) return false;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return true;
    },
    takeScan(source, ports, at) {
      const exempt = exempting(source, at);
      const found = ports.map((port) => nameAt(exempt, port));
      for (const name of new Set(found)) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
      return ports.filter((_, index) => found[index] === null);
    },
    takeSite(exemptions) {
      ofSite = exemptions.map((one) => compile(one));
      const names = new Set([OWN, ...ofFile.map(({ name }) => name), ...ofSite.map(({ name }) => name)]);
      for (const name of counts.keys()) if (!names.has(name)) counts.delete(name);
      for (const name of names) counts.set(name, counts.get(name) ?? 0);
    },
    counts: () => [...counts].map(([name, connections]) => ({ name, connections })),
  };
}

interface Compiled {
  readonly name: string;
  readonly list: BlockList;
  readonly ports: ReadonlySet<number>;
  readonly hours: readonly [number, number] | undefined;
  readonly untilMs: number;
}

function compile({ name, addresses, ports, hours, until }: ExemptionSettings & Pick<DecoyExemption, "until">): Compiled {
  return {
    name, list: toList(addresses), ports: new Set(ports), hours: hours === undefined ? undefined : toMinutes(hours), untilMs: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
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
