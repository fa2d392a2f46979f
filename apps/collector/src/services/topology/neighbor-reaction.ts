import type { EventData, EventType, NeighborProtocol } from "@lanthorn/contract";
import type { AppendedEvent } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";
import { forgetNeighbors, type NeighborRow, neighborsOfProbe, saveNeighbors } from "./reaction-store.ts";

type Draft = { -readonly [K in keyof NeighborRow]: NeighborRow[K] };
type NeighborEvent = Extract<EventType, `neighbor_${string}`>;

/** Applies a probe's reports of its neighbors. */
interface Known {
  readonly rows: Map<string, Draft>;
  readonly changed: Set<Draft>;
}

/** Probes keep 256 that are there; of the rest the newest stay. */
const MAX_OF_A_PROBE = 1024;

/** Keeps neighbors as their probes report them. */
export const neighborReaction: Reaction<NeighborEvent> = {
  types: ["neighbor_discovered", "neighbor_lost", "neighbor_report"],
  async react(trx, { tenantId }, events) {
    const reports = events.filter(({ queue_id }) => queue_id !== null);
    for (const probeId of new Set(reports.flatMap(({ probe_id }) => probe_id ?? []))) {
      const stored = await neighborsOfProbe(trx, tenantId, probeId);
      const known: Known = { rows: new Map(stored.map((row) => [row.key, { ...row }])), changed: new Set() };
      for (const event of reports) if (event.probe_id === probeId) apply(known, event);
      await saveNeighbors(trx, [...known.changed]);
      await forgetNeighbors(trx, probeId, beyondMost(known));
    }
  },
};

function apply(known: Known, event: AppendedEvent<NeighborEvent>): void {
  if (event.type === "neighbor_discovered") applyDiscovered(known, event);
  else if (event.type === "neighbor_lost") applyLost(known, event.data);
  else applyReport(known, event.data);
}

function applyDiscovered(known: Known, { data, json, seenAt: at, ...row }: AppendedEvent<"neighbor_discovered">): void {
  const key = keyOf(data.local_interface, data);
  const before = known.rows.get(key);
  const draft: Draft = before ?? {
    probe_id: row.probe_id ?? "", key, tenant_id: row.tenant_id, site_id: row.site_id ?? "", data: "", first_seen: at, last_seen: at,
    current: 1,
  };
  draft.data = json;
  change(known, draft, at, 1);
}

function applyLost(known: Known, data: EventData<"neighbor_lost">): void {
  const draft = known.rows.get(keyOf(data.local_interface, data));
  if (draft) change(known, draft, data.last_seen_at, 0);
}

/** Whoever the probe does not name any more is gone, even where the word of it was lost. */
function applyReport(known: Known, data: EventData<"neighbor_report">): void {
  const there = new Map(data.neighbors.map((neighbor) => [keyOf(data.local_interface, neighbor), neighbor.last_seen_at]));
  for (const draft of known.rows.values()) {
    if (placeOf(draft.key) !== data.local_interface) continue;
    const at = there.get(draft.key);
    if (at !== undefined) change(known, draft, at, 1);
    else if (draft.current === 1) change(known, draft, draft.last_seen, 0);
  }
}

function change(known: Known, draft: Draft, at: string, current: number): void {
  if (at > draft.last_seen) draft.last_seen = at;
  draft.current = current;
  known.rows.set(draft.key, draft);
  known.changed.add(draft);
}

/** The keys of those that are too many: those that are gone first, of these the oldest. */
function beyondMost({ rows }: Known): readonly string[] {
  if (rows.size <= MAX_OF_A_PROBE) return [];
  return [...rows.values()].toSorted((a, b) => a.current - b.current || (a.last_seen < b.last_seen ? -1 : 1))
    .slice(0, rows.size - MAX_OF_A_PROBE).map(({ key }) => key);
}

function keyOf(
  localInterface: string, { protocol, chassis_id, port_id }: {
    readonly protocol: NeighborProtocol; readonly chassis_id: string; readonly port_id: string;
  },
): string {
  return JSON.stringify([localInterface, protocol, chassis_id, port_id]);
}

function placeOf(key: string): string {
  return (JSON.parse(key) as readonly [string, ...string[]])[0];
}
