import type { NeighborDiscovered, NeighborProtocol } from "@lanthorn/contract/uplink";
import type { Advert, NeighborFacts } from "./advert.ts";

/** A moment by both clocks, in milliseconds. */
interface Times {
  readonly monotonic: number;
  readonly wall: number;
}

/** A neighbor as it is kept. Times are monotonic milliseconds where not said otherwise. */
export interface Neighbor {
  readonly key: string;
  readonly protocol: NeighborProtocol;
  readonly localInterface: string;
  sourceMac: string;
  facts: NeighborFacts;
  ttlSeconds: number;
  readonly firstHeardAt: number;
  heardAt: number;
  /** By the wall clock. */
  seenAt: number;
  /** When it counts as gone. */
  endsAt: number;
  /** What was last published; null before the first. */
  reported: NeighborFacts | null;
  reportedAt: number;
  /** How long after that a change waits. */
  pauseMs: number;
  gone: "expired" | "shutdown" | null;
}

/** Neighbors, as many as are let in. */
export interface NeighborTable {
  /** @returns `full` when a newcomer had to be left out. */
  hear(advert: Advert, localInterface: string, now: Times): "taken" | "full";
  /** Marks those whose time is over. */
  expire(now: number): void;
  /** Nothing was heard for that long because nobody listened: it counts for nobody's silence. */
  forgive(ms: number): void;
  /** One that an earlier run published. */
  restore(data: NeighborDiscovered, now: Times): void;
  remove(neighbor: Neighbor): void;
  all(): Iterable<Neighbor>;
  readonly size: number;
}

/** A port has one neighbor, a hub or an unmanaged switch a few dozen. */
export const MAX_NEIGHBORS = 256;
/** A neighbor that was published and heard for so long is known: events about unknown ones use none of its budget. */
export const KNOWN_AFTER_MS = 600_000;
/** Whoever was heard twice, that far apart, is somebody: newcomers by the thousand displace only each other. */
const ESTABLISHED_AFTER_MS = 10_000;

/** Holds `MAX_NEIGHBORS`. When it is full, one that was not published and was heard for less than ten seconds leaves. */
export function createNeighborTable(): NeighborTable {
  const neighbors = new Map<string, Neighbor>();

  /** @returns Whether there is room now. */
  function makeRoom(): boolean {
    if (neighbors.size < MAX_NEIGHBORS) return true;
    for (const neighbor of neighbors.values()) {
      if (neighbor.reported !== null || neighbor.heardAt - neighbor.firstHeardAt >= ESTABLISHED_AFTER_MS) continue;
      neighbors.delete(neighbor.key);
      return true;
    }
    return false;
  }

  function refresh(neighbor: Neighbor, advert: Advert, now: Times): void {
    neighbor.heardAt = now.monotonic;
    neighbor.seenAt = now.wall;
    neighbor.endsAt = now.monotonic + neighbor.ttlSeconds * 1000;
    neighbor.gone = advert.ttlSeconds === 0 ? "shutdown" : null;
  }

  return {
    hear(advert, localInterface, now) {
      if (advert.isVlansOnly) {
        for (const neighbor of neighbors.values()) {
          if (neighbor.protocol !== advert.protocol || neighbor.sourceMac !== advert.sourceMac) continue;
          neighbor.facts = withVlans(neighbor.facts, advert.facts);
        }
        return "taken";
      }
      if (advert.ttlSeconds === 0 && advert.facts.port_id === "") {
        for (const neighbor of neighbors.values()) if (isSameSender(neighbor, advert)) refresh(neighbor, advert, now);
        return "taken";
      }
      const key = keyOf(advert.protocol, localInterface, advert.facts);
      const known = neighbors.get(key);
      if (known) {
        // A farewell says nothing but who goes.
        if (advert.ttlSeconds > 0) {
          known.facts = advert.protocol === "edp" && advert.facts.vlan_ids.length === 0
            ? withVlans(advert.facts, known.facts)
            : advert.facts;
          known.sourceMac = advert.sourceMac;
          known.ttlSeconds = advert.ttlSeconds;
        }
        refresh(known, advert, now);
        return "taken";
      }
      if (advert.ttlSeconds === 0) return "taken";
      if (!makeRoom()) return "full";
      const neighbor = createNeighbor(key, advert, localInterface, now);
      refresh(neighbor, advert, now);
      neighbors.set(key, neighbor);
      return "taken";
    },
    expire(now) {
      for (const neighbor of neighbors.values()) if (neighbor.endsAt <= now) neighbor.gone ??= "expired";
    },
    forgive(ms) {
      for (const neighbor of neighbors.values()) neighbor.endsAt += ms;
    },
    restore(data, now) {
      const facts = factsOf(data);
      const key = keyOf(data.protocol, data.local_interface, facts);
      neighbors.set(key, {
        key, facts, protocol: data.protocol, localInterface: data.local_interface, sourceMac: data.source_mac ?? "",
        ttlSeconds: data.ttl_seconds, firstHeardAt: now.monotonic - KNOWN_AFTER_MS, heardAt: now.monotonic, seenAt: now.wall,
        endsAt: now.monotonic + data.ttl_seconds * 1000, reported: facts, reportedAt: now.monotonic, pauseMs: 0, gone: null,
      });
    },
    remove: (neighbor) => void neighbors.delete(neighbor.key),
    all: () => neighbors.values(),
    get size() {
      return neighbors.size;
    },
  };
}

/** One that is heard for the first time. */
function createNeighbor(key: string, { protocol, sourceMac, facts, ttlSeconds }: Advert, localInterface: string, { monotonic, wall }: Times): Neighbor {
  return {
    key, localInterface, protocol, sourceMac, facts, ttlSeconds, firstHeardAt: monotonic, heardAt: monotonic, seenAt: wall, endsAt: 0,
    reported: null, reportedAt: Number.NEGATIVE_INFINITY, pauseMs: 0, gone: null,
  };
}

/** Who speaks from where; the names may hold anything. */
function keyOf(protocol: NeighborProtocol, localInterface: string, { chassis_id, port_id }: NeighborFacts): string {
  return JSON.stringify([protocol, localInterface, chassis_id, port_id]);
}

/** CDP's goodbye names no port: the port is the one with the sender's address. */
function isSameSender({ protocol, sourceMac, facts }: Neighbor, advert: Advert): boolean {
  return protocol === advert.protocol && sourceMac === advert.sourceMac && facts.chassis_id === advert.facts.chassis_id;
}

function withVlans(facts: NeighborFacts, vlans: NeighborFacts): NeighborFacts {
  const addresses = [...new Set([...facts.management_addresses, ...vlans.management_addresses])].slice(0, 16);
  return { ...facts, vlan_ids: vlans.vlan_ids, vlan_names: vlans.vlan_names, management_addresses: addresses };
}

/** What an event of an earlier version did not say is not known. */
function factsOf(data: NeighborDiscovered): NeighborFacts {
  const { protocol: _, local_interface: _place, ttl_seconds: _ttl, source_mac: _mac, changed: _changed, ...facts } = data;
  return {
    chassis_id_type: "local", port_id_type: "local", platform: "", vlan_names: [], native_vlan: null, voice_vlan: null, power: null,
    ...facts,
  };
}
