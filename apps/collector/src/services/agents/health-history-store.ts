import type { Insertable, Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** Keeps a sample of a probe's health, unless there is one of that moment. */
export async function addSample(db: Kysely<Schema>, sample: Insertable<Schema["probe_health"]>): Promise<void> {
  await db.insertInto("probe_health").values(sample).onConflict((conflict) => conflict.columns(["probe_id", "at"]).doNothing()).execute();
}

/** Forgets samples from before `before`. @returns How many. */
export async function forgetSamples(db: Kysely<Schema>, before: string): Promise<number> {
  return Number((await db.deleteFrom("probe_health").where("at", "<", before).executeTakeFirst()).numDeletedRows);
}
