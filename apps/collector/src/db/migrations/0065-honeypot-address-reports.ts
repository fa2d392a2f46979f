import { toInstant } from "@lanthorn/runtime";
import { type Kysely, sql } from "kysely";

/** Since when each decoy's address was reported, and when last. Those that are there count as reported now. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const now = toInstant(Date.now());
  for (const column of ["settled_before", "reported_at"]) {
    await db.schema.alterTable("honeypot_addresses").addColumn(column, "text", (c) => c.notNull().defaultTo("")).execute();
    await sql`update honeypot_addresses set ${sql.ref(column)} = ${now}`.execute(db);
  }
}
