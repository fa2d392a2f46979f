import type { Kysely } from "kysely";

/** The oldest of what a tenant's probes sent that nobody could read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex("rejected_events_age").on("rejected_events").columns(["tenant_id", "received_at", "probe_seq"]).execute();
}
