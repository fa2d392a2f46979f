import * as z from "zod";
import type { Advert } from "../../listen/advert.ts";
import type { LearnedStore } from "../learned/learned-store.ts";

/** What of a neighbor another one may claim for itself. */
export interface KnownNeighbor {
  readonly mac: string;
  readonly chassis: string;
  readonly port: string;
  /** Empty where it has none. */
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Switches and routers that are right here. */
export interface KnownNeighbors {
  all(): readonly KnownNeighbor[];
  /** Whether phones and hosts are heard as well: something here passes adverts on. */
  hasEnds(): boolean;
  learnEnds(): void;
  /** The known neighbor of this sender and chassis. */
  find(mac: string, chassis: string): KnownNeighbor | null;
  learn(neighbor: KnownNeighbor, now: number): void;
  forget(neighbor: KnownNeighbor): void;
  touch(neighbor: KnownNeighbor, now: number): void;
  /** Monotonic milliseconds; those of an earlier run count as heard at the start. */
  heardAt(neighbor: KnownNeighbor): number;
}

const SCOPE = "link_neighbors";
const ENDS_KEY = "ends";
/** A hub or mirror port shows those of many ports. */
const MAX_NEIGHBORS = 256;
const Kept = z.object({
  mac: z.string(), chassis: z.string(), port: z.string(), name: z.string(), addresses: z.array(z.string()),
});

/** @param now Monotonic milliseconds of the start. Keeps 256. */
export function createKnownNeighbors(learned: LearnedStore, now: number): KnownNeighbors {
  const known = new Map<string, { neighbor: KnownNeighbor; heardAt: number }>();
  const keyOf = (mac: string, chassis: string) => `${mac} ${chassis}`;
  let hasEnds = false;
  for (const [key, value] of learned.load(SCOPE)) {
    if (key === ENDS_KEY) hasEnds = true;
    const kept = Kept.safeParse(value);
    if (kept.success) known.set(key, { neighbor: kept.data, heardAt: now });
  }
  return {
    all: () => [...known.values()].map(({ neighbor }) => neighbor),
    hasEnds: () => hasEnds,
    learnEnds() {
      if (!hasEnds) learned.put(SCOPE, ENDS_KEY, true);
      hasEnds = true;
    },
    find: (mac, chassis) => known.get(keyOf(mac, chassis))?.neighbor ?? null,
    learn(neighbor, at) {
      const key = keyOf(neighbor.mac, neighbor.chassis);
      if (!known.has(key) && known.size >= MAX_NEIGHBORS) return;
      known.set(key, { neighbor, heardAt: at });
      learned.put(SCOPE, key, neighbor);
    },
    forget(neighbor) {
      const key = keyOf(neighbor.mac, neighbor.chassis);
      known.delete(key);
      learned.remove(SCOPE, key);
    },
    touch(neighbor, at) {
      const entry = known.get(keyOf(neighbor.mac, neighbor.chassis));
      if (entry) entry.heardAt = at;
    },
    heardAt: (neighbor) => known.get(keyOf(neighbor.mac, neighbor.chassis))?.heardAt ?? Number.NEGATIVE_INFINITY,
  };
}

/** What forwards for others, in LLDP's words, which `listen/` uses for CDP too. */
const FORWARDING: readonly string[] = ["bridge", "router", "c-vlan", "s-vlan"];
/** Phones and access points forward too, and are no uplink. */
const ENDS: readonly string[] = ["telephone", "wlan-ap", "docsis"];

/** What may be claimed of the sender of an advert. */
export function neighborOf({ sourceMac, facts }: Advert): KnownNeighbor {
  return { mac: sourceMac, chassis: facts.chassis_id, port: facts.port_id, name: facts.system_name, addresses: facts.management_addresses };
}

/** Whether the sender says that it is a switch or a router. */
export function isSwitch({ facts: { capabilities } }: Advert): boolean {
  const has = (words: readonly string[]) => capabilities.some((capability) => words.includes(capability));
  return has(FORWARDING) && !has(ENDS);
}
