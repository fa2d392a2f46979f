import type { Kysely } from "kysely";

/** Keys that zones are transferred with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["tsig_name", "tsig_algorithm", "tsig_sealed"]) await db.schema.alterTable("dns_lists").addColumn(column, "text").execute();
}
