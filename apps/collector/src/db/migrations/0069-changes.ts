import { type Kysely, sql } from "kysely";

/** Indexes that are walked from a moment on, to count what changed since then; the alerts' has what is counted, since their rows are large. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex("devices_first_seen").on("devices").columns(["tenant_id", "first_seen", "id", "site_id"]).execute();
  await schema.dropIndex("alerts_first_seen").execute();
  await schema.createIndex("alerts_first_seen").on("alerts").columns(["tenant_id", "first_seen", "id", "site_id", "severity"]).execute();
  await schema.createIndex("alerts_ended").on("alerts").columns(["tenant_id", "resolved_at", "id", "site_id"]).where(sql.ref("resolved_at"), "is not", null).execute();
  await schema.createIndex("events_changes").on("events").columns(["tenant_id", "seq"])
    .where(sql.ref("type"), "in", [sql.lit("host_offline"), sql.lit("vuln_found"), sql.lit("config_changed")]).execute();
}
