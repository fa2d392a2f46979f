import type { Kysely } from "kysely";

/** Which probes report an alert's cause now: it is over when none does any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("alerts").addColumn("reporters", "text", (c) => c.notNull().defaultTo("{}")).execute();
}
