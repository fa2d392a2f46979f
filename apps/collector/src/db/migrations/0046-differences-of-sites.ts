import type { Kysely } from "kysely";

/** What a site has open is counted against the room that it has. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex("baseline_differences_site").on("baseline_differences").columns(["site_id", "state"]).execute();
}
