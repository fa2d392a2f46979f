import type { EventData, EventType, NeighborProtocol } from "@lanthorn/contract";
import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { upsertMany } from "../../db/write-many.ts";
import type { AppendedEvent } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";

type NeighborRow = Selectable<Schema["neighbors"]>;
type Draft = { -readonly [K in keyof NeighborRow]: NeighborRow[K] };
type NeighborEvent = Extract<EventType, `neighbor_${string}`>;

/** Applies a probe's reports of its neighbors. */
interface Known {
  readonly rows: Map<string, Draft>;
  readonly changed: Set<Draft>;
}

/** Probes keep 256 that are there; of the rest the newest stay. */
const MOST_OF_A_PROBE = 1024;

/** Keeps neighbors as their probes report them. */
export const neighborReaction: Reaction<NeighborEvent> = {
  types: ["neighbor_discovered", "neighbor_lost", "neighbor_report"],
  async react(trx, { tenantId }, events) {
    const reports = events.filter(({ queue_id }) => queue_id !== null);
    for (const probeId of new Set(reports.flatMap(({ probe_id }) => probe_id ?? []))) {
      const stored = await trx.selectFrom("neighbors").selectAll().where("tenant_id", "=", tenantId).where("probe_id", "=", probeId)
        .execute();
      const known: Known = { rows: new Map(stored.map((row) => [row.key, { ...row }])), changed: new Set() };
      for (const event of reports) if (event.probe_id === probeId) apply(known, event);
      await upsertMany(
        trx, "neighbors", { key: ["probe_id", "key"], update: ["data", "last_seen", "current"] }, [...known.changed].map(inOrder),
      );
      await forgetOldest(trx, probeId, known);
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

async function forgetOldest(trx: Transaction<Schema>, probeId: string, { rows }: Known): Promise<void> {
  if (rows.size <= MOST_OF_A_PROBE) return;
  const oldest = [...rows.values()].toSorted((a, b) => a.current - b.current || (a.last_seen < b.last_seen ? -1 : 1))
    .slice(0, rows.size - MOST_OF_A_PROBE);
  for (const { key } of oldest) await trx.deleteFrom("neighbors").where("probe_id", "=", probeId).where("key", "=", key).execute();
}

/** All rows of a statement have their columns in one order. */
function inOrder({ probe_id, key, tenant_id, site_id, data, first_seen, last_seen, current }: Draft): Draft {
  return { probe_id, key, tenant_id, site_id, data, first_seen, last_seen, current };
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
