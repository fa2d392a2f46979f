import type { Selectable, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { upsertMany } from "../../db/query/write-many.ts";

type Trx = Transaction<Schema>;
/** A neighbor of a probe, by `key`. `data` is the `neighbor_discovered` event as JSON text; `current` is 1 while it is there, else 0. */
export type NeighborRow = Selectable<Schema["neighbors"]>;

/** What a probe has reported of its neighbors. */
export function neighborsOfProbe(trx: Trx, tenantId: string, probeId: string): Promise<readonly NeighborRow[]> {
  return trx.selectFrom("neighbors").selectAll().where("tenant_id", "=", tenantId).where("probe_id", "=", probeId).execute();
}

/** Writes neighbors, new and known. */
export async function saveNeighbors(trx: Trx, rows: readonly NeighborRow[]): Promise<void> {
  // All rows of a statement have their columns in one order.
  const inOrder = rows.map(({ probe_id, key, tenant_id, site_id, data, first_seen, last_seen, current }) => (
    { probe_id, key, tenant_id, site_id, data, first_seen, last_seen, current }));
  await upsertMany(trx, "neighbors", { key: ["probe_id", "key"], update: ["data", "last_seen", "current"] }, inOrder);
}

/** Forgets neighbors of a probe by their keys. */
export async function forgetNeighbors(trx: Trx, probeId: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) await trx.deleteFrom("neighbors").where("probe_id", "=", probeId).where("key", "=", key).execute();
}

/** Keeps what a switch answered. */
export async function saveSwitch(
  trx: Trx, report: Pick<Selectable<Schema["switch_reports"]>, "probe_id" | "ip" | "tenant_id" | "site_id" | "data">, at: string,
): Promise<void> {
  await trx.insertInto("switch_reports").values({ ...report, first_seen: at, last_seen: at, current: 1 })
    .onConflict((oc) => oc.columns(["probe_id", "ip"]).doUpdateSet({ data: report.data, last_seen: at, current: 1 })).execute();
}

/** A switch does not answer any more: what it said last stays. */
export async function markSwitchGone(
  trx: Trx, { tenantId, probeId, ip }: { readonly tenantId: string; readonly probeId: string; readonly ip: string },
): Promise<void> {
  await trx.updateTable("switch_reports").set({ current: 0 }).where("tenant_id", "=", tenantId).where("probe_id", "=", probeId)
    .where("ip", "=", ip).execute();
}

/** Keeps the newest `keep` switches of a probe, those that answer before those that do not. */
export async function forgetOldestSwitches(trx: Trx, probeId: string, keep: number): Promise<void> {
  const old = await trx.selectFrom("switch_reports").select("ip").where("probe_id", "=", probeId).orderBy("current", "desc")
    .orderBy("last_seen", "desc").orderBy("ip").offset(keep).limit(keep).execute();
  for (const { ip } of old) await trx.deleteFrom("switch_reports").where("probe_id", "=", probeId).where("ip", "=", ip).execute();
}
