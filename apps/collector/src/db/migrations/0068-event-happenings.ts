import { type Kysely, sql, type SqlBool } from "kysely";

/** What changes at a site is looked for beside an anomaly, among very many events that are none of these. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex("events_happenings").on("events").columns(["site_id", "type", "occurred_at"])
    .where(sql<SqlBool>`type in ('host_found', 'config_changed', 'scan_started')`).execute();
}
