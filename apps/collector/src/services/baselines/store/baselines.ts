import type { Kysely, Selectable, Transaction } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import { insertMany, updateMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";

type Trx = Transaction<Schema>;

/** A baseline as stored. `settings` is JSON: see `readSettings`. */
export type BaselineRow = Selectable<Schema["baselines"]>;

/** Adds baselines. */
export function addBaselines(trx: Trx, rows: readonly BaselineRow[]): Promise<void> {
  return insertMany(trx, "baselines", rows);
}

/** What the comparison itself changes of a baseline. */
export type BaselineState = Pick<BaselineRow, "id" | "state" | "learning_until" | "learned_at" | "presence" | "scopes" | "compare_at" | "updated_at">;

/** Writes what the comparison has changed. */
export function setBaselines(trx: Trx, rows: readonly BaselineState[]): Promise<void> {
  return updateMany(trx, "baselines", rows);
}

/** Has baselines compared with the next run: after whatever changes how they compare. */
export async function markDue(trx: Trx, baselineIds: readonly string[], at: string): Promise<void> {
  if (baselineIds.length === 0) return;
  await selectIn(baselineIds, async (list) => {
    await trx.updateTable("baselines").set({ compare_at: at }).where("id", "in", list).where("compare_at", ">", at).execute();
    return [];
  });
}

/** The same with all baselines of a tenant, or of one of its sites: after a change of a template, a window or an acceptance. */
export async function markAllDue(trx: Trx, { tenantId, siteId }: { readonly tenantId: string; readonly siteId: string | null }, at: string): Promise<void> {
  const query = trx.updateTable("baselines").set({ compare_at: at }).where("tenant_id", "=", tenantId).where("compare_at", ">", at);
  await (siteId === null ? query : query.where("site_id", "=", siteId)).execute();
}

/** These baselines, as they are now. */
export function baselinesById(db: Kysely<Schema>, ids: readonly string[]): Promise<readonly BaselineRow[]> {
  return selectIn(ids, (list) => db.selectFrom("baselines").selectAll().where("id", "in", list).execute());
}

/** The baselines of these devices. */
export function baselinesOfDevices(db: Kysely<Schema>, deviceIds: readonly string[]): Promise<readonly BaselineRow[]> {
  return selectIn(deviceIds, (list) => db.selectFrom("baselines").selectAll().where("device_id", "in", list).execute());
}

/** The baselines of these sites themselves. */
export function baselinesOfSites(db: Kysely<Schema>, siteIds: readonly string[]): Promise<readonly BaselineRow[]> {
  return selectIn(siteIds, (list) => db.selectFrom("baselines").selectAll().where("site_id", "in", list).where("scope", "=", "").execute());
}
