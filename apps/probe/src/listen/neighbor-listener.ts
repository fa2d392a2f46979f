import type { Clock, Log } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import type { BusModule } from "../bus/frame-bus.ts";
import { createNeighborAnnouncer } from "./neighbor-announcer.ts";
import { createNeighborTable, MAX_NEIGHBORS } from "./neighbor-table.ts";
import { createEventBudget } from "./event-budget.ts";
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
  const announcer = createNeighborAnnouncer({
    ...deps, store, budget: createEventBudget(), publisher: createPublisher({ ...deps, what: "neighbors" }),
  });
  let lastTick = 0;
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

  function tick(now: number): void {
    if (now - lastTick > GAP_MS) table.forgive(now - lastTick);
    lastTick = now;
    table.expire(now);
    if (now >= reportAt) {
      reportAt = now + REPORT_EVERY_MS;
      announcer.report(table.all());
    }
    for (const neighbor of table.all()) {
      if (neighbor.gone !== null && neighbor.reported === null) table.remove(neighbor);
      else if (neighbor.gone === null && neighbor.reported === neighbor.facts) continue;
      else {
        const outcome = announcer.announce(neighbor, now);
        if (outcome === "over-budget") warnOfFlood();
        else if (outcome === "published" && neighbor.gone !== null) table.remove(neighbor);
      }
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
