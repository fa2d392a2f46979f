import type { Kysely } from "kysely";

/** What is believed of a device, with how much and by whose word, beside the words that lists show. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("devices").addColumn("verdicts", "text", (c) => c.notNull().defaultTo("{}")).execute();
}
