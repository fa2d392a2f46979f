import type { Kysely, Selectable, Transaction } from "kysely";
import { insertMany } from "../../db/query/write-many.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";
import type { MuteRow } from "./reaction/mutes.ts";

/** What somebody did with an alert, as stored. */
export type ActionRow = Selectable<Schema["alert_actions"]>;

/** Adds what was done in a transaction. */
export function addActions(trx: Transaction<Schema>, rows: readonly ActionRow[]): Promise<void> {
  return insertMany(trx, "alert_actions", rows);
}

/** Adds mutes in a transaction. */
export function addMutes(trx: Transaction<Schema>, rows: readonly MuteRow[]): Promise<void> {
  return insertMany(trx, "alert_mutes", rows);
}

/** What was done with an alert, the newest first. */
export function listActions(reads: Kysely<Schema>, alertId: string, { from, limit }: Rows): Promise<readonly ActionRow[]> {
  const query = reads.selectFrom("alert_actions").selectAll().where("alert_id", "=", alertId).orderBy("id", "desc").limit(limit);
  return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
}

/** How much was done with an alert. */
export async function countActions(reads: Kysely<Schema>, alertId: string): Promise<number> {
  return (await reads.selectFrom("alert_actions").select((eb) => eb.fn.countAll<number>().as("total")).where("alert_id", "=", alertId).executeTakeFirstOrThrow()).total;
}
