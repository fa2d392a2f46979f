import type { NeighborDiscovered, ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import type { BusModule } from "../bus/frame-bus.ts";
import type { NeighborFacts } from "./advert.ts";
import { createNeighborTable, MAX_NEIGHBORS, type Neighbor } from "./neighbor-table.ts";
import { createNewsBudget } from "./news-budget.ts";
import { createNeighborsStore } from "./neighbors-store.ts";
import { readAdvert } from "./read-advert.ts";

/** Hears what switches, routers and phones on the link say of themselves: LLDP, CDP, EDP, FDP, SONMP. It sends nothing. */
export interface NeighborListener extends Required<Omit<BusModule, "close">> {
  count(): number;
  /** By which those that are there say that they are managed. */
  managementAddresses(): readonly string[];
}

/** Ticks that far apart mean that the process was stopped or the machine slept, and heard nobody. */
const GAP_MS = 5000;
/** Two senders that fight for one name must not fill the queue: each change that follows at once waits twice as long as the one before. */
const CHANGE_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;
const WARN_EVERY_MS = 3_600_000;
const REPORT_EVERY_MS = 600_000;
/** After a start everybody is heard of anew first: LLDP speaks every 30 s, CDP every minute. */
const FIRST_REPORT_MS = 200_000;

/**
 * @param deps.outbox Called inside a transaction of `db`. A throw rolls the change back; it is tried again at the next tick.
 * @param deps.ownMac Six bytes as text; frames from it are ours.
 * @throws SqliteError when its table cannot be made.
 */
export function createNeighborListener(deps: {
  readonly db: Database;
  readonly outbox: EventSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly interfaceName: string;
  readonly ownMac: () => string;
}): NeighborListener {
  const { clock, log } = deps;
  const store = createNeighborsStore(deps.db);
  const table = createNeighborTable();
  const publisher = createPublisher({ ...deps, what: "neighbors" });
  let lastTick = 0;
  const budget = createNewsBudget();
  let warnedAt = Number.NEGATIVE_INFINITY;
  let reportAt = Number.POSITIVE_INFINITY;

  const times = () => ({ monotonic: clock.monotonic(), wall: clock.now() });

  /** One line an hour says it, however many there are. */
  function warnOfFlood(): void {
    const now = clock.monotonic();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const waiting = [...table.all()].filter(({ reported }) => reported === null).length;
    log.warn({ neighbors: table.size, waiting }, "more neighbors announce themselves than are stored or published; the newest are left out");
  }

  /** Writes what became of one neighbor, with its event. @returns Whether the disk took it. */
  function tell(neighbor: Neighbor, event: ProbeEvent, write: () => void): boolean {
    const isWritten = publisher.publish([event], write);
    if (isWritten) budget.spend(neighbor);
    return isWritten;
  }

  function tellGone(neighbor: Neighbor, reason: "expired" | "shutdown"): void {
    const { protocol, localInterface: local_interface, facts: { chassis_id, port_id, system_name } } = neighbor;
    const data = { protocol, local_interface, chassis_id, port_id, system_name, reason, last_seen_at: toInstant(neighbor.seenAt) };
    const isWritten = tell(neighbor, { type: "neighbor_lost", occurred_at: toInstant(clock.now()), data }, () =>
      store.remove(neighbor.key));
    if (isWritten) table.remove(neighbor);
  }

  function tellThere(neighbor: Neighbor, now: number): void {
    const changed = changedFields(neighbor.reported, neighbor.facts);
    if (neighbor.reported !== null && (changed.length === 0 || now - neighbor.reportedAt < neighbor.pauseMs)) return;
    const { facts } = neighbor;
    const data: NeighborDiscovered = {
      protocol: neighbor.protocol, local_interface: neighbor.localInterface, ...facts, ttl_seconds: neighbor.ttlSeconds,
      source_mac: neighbor.sourceMac, changed: neighbor.reported === null ? [] : changed,
    };
    const event: ProbeEvent = { type: "neighbor_discovered", occurred_at: toInstant(clock.now()), data };
    if (!tell(neighbor, event, () => store.save(neighbor.key, data, neighbor.seenAt))) return;
    const isCalm = neighbor.reported === null || now - neighbor.reportedAt >= 2 * neighbor.pauseMs;
    neighbor.pauseMs = isCalm ? CHANGE_PAUSE_MS : Math.min(2 * neighbor.pauseMs, MAX_PAUSE_MS);
    neighbor.reported = facts;
    neighbor.reportedAt = now;
  }

  /** So that the collector also learns of who went where the word of it was lost. */
  function report(): void {
    const reported = [...table.all()].filter((neighbor) => neighbor.reported !== null && neighbor.gone === null);
    const neighbors = reported.map(({ protocol, facts: { chassis_id, port_id }, seenAt }) =>
      ({ protocol, chassis_id, port_id, last_seen_at: toInstant(seenAt) }));
    publisher.publish([
      { type: "neighbor_report", occurred_at: toInstant(clock.now()), data: { local_interface: deps.interfaceName, neighbors } },
    ]);
  }

  function tick(now: number): void {
    if (now - lastTick > GAP_MS) table.forgive(now - lastTick);
    lastTick = now;
    table.expire(now);
    if (now >= reportAt) {
      reportAt = now + REPORT_EVERY_MS;
      report();
    }
    for (const neighbor of table.all()) {
      if (neighbor.gone !== null && neighbor.reported === null) table.remove(neighbor);
      else if (neighbor.gone === null && neighbor.reported === neighbor.facts) continue;
      else if (!budget.allows(neighbor, now)) warnOfFlood();
      else if (neighbor.gone === null) tellThere(neighbor, now);
      else tellGone(neighbor, neighbor.gone);
    }
  }

  return {
    name: "neighbors",
    start() {
      // As if heard now: what went while nobody listened is noticed when its time is over.
      for (const { data, seenAt } of store.load().slice(0, MAX_NEIGHBORS)) {
        table.restore(data, { monotonic: clock.monotonic(), wall: seenAt });
      }
      lastTick = clock.monotonic();
      reportAt = lastTick + FIRST_REPORT_MS;
    },
    onFrame(frame) {
      const advert = readAdvert(frame);
      if (!advert || advert.sourceMac === deps.ownMac()) return;
      if (table.hear(advert, deps.interfaceName, times()) === "full") warnOfFlood();
    },
    tick,
    count: () => table.size,
    managementAddresses: () => [...table.all()].flatMap(({ gone, facts }) => (gone === null ? facts.management_addresses : [])),
  };
}

function changedFields(before: NeighborFacts | null, now: NeighborFacts): string[] {
  if (before === null || before === now) return [];
  return (Object.keys(now) as (keyof NeighborFacts)[]).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(now[field]));
}
