import { nextTurn } from "@lanthorn/runtime";
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

/** All baselines of a tenant, or of one of its sites where that is given. */
export interface Everything {
  readonly tenantId: string;
  readonly siteId: string | null;
}

/** In one transaction, in which ingest waits: some milliseconds. */
const MARKED_AT_ONCE = 200;

/**
 * The same with all baselines of a tenant or site, some at a time: there may be 50,000. Should it end early, those that are left are compared
 * within the hour, as all are.
 */
export async function markAllDue(db: Kysely<Schema>, { tenantId, siteId }: Everything, at: string): Promise<void> {
  for (let after = "", went = MARKED_AT_ONCE; went === MARKED_AT_ONCE;) {
    const from = after;
    const query = db.selectFrom("baselines").select(["id", "compare_at"]).where("tenant_id", "=", tenantId).where("id", ">", from)
      .orderBy("id").limit(MARKED_AT_ONCE);
    const page = await (siteId === null ? query : query.where("site_id", "=", siteId)).execute();
    const due = page.filter(({ compare_at: next }) => next > at).map(({ id }) => id);
    if (due.length > 0) await db.transaction().execute((trx) => markDue(trx, due, at));
    [after, went] = [page.at(-1)?.id ?? "", page.length];
    await nextTurn();
  }
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
