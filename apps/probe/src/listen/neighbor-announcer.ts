import type { NeighborDiscovered, ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import type { NeighborFacts } from "./advert.ts";
import type { Neighbor } from "./neighbor-table.ts";
import type { NeighborsStore } from "./neighbors-store.ts";
import type { EventBudget } from "./event-budget.ts";

/** Publishes what became of neighbors, each event together with what is stored of the neighbor. */
export interface NeighborAnnouncer {
  /**
   * Publishes that a neighbor is new, has changed or is gone.
   * @param now Monotonic milliseconds.
   * @returns `waiting`: nothing has changed, the last change is too recent, or the disk takes nothing. `over-budget`: too much is
   * published already. A neighbor whose departure was published is stored no more.
   */
  announce(neighbor: Neighbor, now: number): "published" | "waiting" | "over-budget";
  /** Publishes who is there, so that the collector also learns of who went where the event of it was lost. */
  report(neighbors: Iterable<Neighbor>): void;
}

/** Two senders that fight for one name must not fill the queue: each change that follows at once waits twice as long as the one before. */
const CHANGE_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;

/** @param deps.publisher Of the database that `store` is in. */
export function createNeighborAnnouncer(deps: {
  readonly store: NeighborsStore;
  readonly publisher: Publisher;
  readonly budget: EventBudget;
  readonly clock: Pick<Clock, "now">;
  readonly interfaceName: string;
}): NeighborAnnouncer {
  const { store, publisher, budget } = deps;
  const instant = () => toInstant(deps.clock.now());

  /** The budget is spent before the neighbor is marked as reported: newcomers have one of their own. */
  function publish(neighbor: Neighbor, event: ProbeEvent, write: () => void): boolean {
    const isWritten = publisher.publish([event], write);
    if (isWritten) budget.spend(neighbor);
    return isWritten;
  }

  function publishThere(neighbor: Neighbor, now: number): boolean {
    const { reported, facts } = neighbor;
    const changed = changedFields(reported, facts);
    const sinceMs = now - neighbor.reportedAt;
    if (reported !== null && (changed.length === 0 || sinceMs < neighbor.pauseMs)) return false;
    const data: NeighborDiscovered = {
      protocol: neighbor.protocol, local_interface: neighbor.localInterface, ...facts, ttl_seconds: neighbor.ttlSeconds,
      source_mac: neighbor.sourceMac, changed,
    };
    const event: ProbeEvent = { type: "neighbor_discovered", occurred_at: instant(), data };
    if (!publish(neighbor, event, () => store.save(neighbor.key, data, neighbor.seenAt))) return false;
    const isCalm = reported === null || sinceMs >= 2 * neighbor.pauseMs;
    neighbor.pauseMs = isCalm ? CHANGE_PAUSE_MS : Math.min(2 * neighbor.pauseMs, MAX_PAUSE_MS);
    neighbor.reported = facts;
    neighbor.reportedAt = now;
    return true;
  }

  function publishGone(neighbor: Neighbor, reason: "expired" | "shutdown"): boolean {
    const { protocol, localInterface: local_interface, facts: { chassis_id, port_id, system_name }, seenAt } = neighbor;
    const data = { protocol, local_interface, chassis_id, port_id, system_name, reason, last_seen_at: toInstant(seenAt) };
    return publish(neighbor, { type: "neighbor_lost", occurred_at: instant(), data }, () => store.remove(neighbor.key));
  }

  return {
    announce(neighbor, now) {
      if (!budget.allows(neighbor, now)) return "over-budget";
      const isPublished = neighbor.gone === null ? publishThere(neighbor, now) : publishGone(neighbor, neighbor.gone);
      return isPublished ? "published" : "waiting";
    },
    report(all) {
      const reported = [...all].filter((neighbor) => neighbor.reported !== null && neighbor.gone === null);
      const neighbors = reported.map(({ protocol, facts: { chassis_id, port_id }, seenAt }) =>
        ({ protocol, chassis_id, port_id, last_seen_at: toInstant(seenAt) }));
      publisher.publish([{ type: "neighbor_report", occurred_at: instant(), data: { local_interface: deps.interfaceName, neighbors } }]);
    },
  };
}

/** Names of facts that are not what they were; none for a neighbor that was never reported. */
function changedFields(before: NeighborFacts | null, now: NeighborFacts): string[] {
  if (before === null || before === now) return [];
  return (Object.keys(now) as (keyof NeighborFacts)[]).filter((field) => {
    const [old, young] = [before[field], now[field]];
    // Most are texts, and the same.
    return old !== young && JSON.stringify(old) !== JSON.stringify(young);
  });
}
