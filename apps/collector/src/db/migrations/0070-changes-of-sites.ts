import { type Kysely, sql } from "kysely";

/** As those of a tenant, which are walked from a moment on: what changed at one site is counted without the others. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex("devices_first_seen_at_site").on("devices").columns(["site_id", "first_seen", "id"]).execute();
  await schema.createIndex("alerts_first_seen_at_site").on("alerts").columns(["site_id", "first_seen", "id", "severity"]).execute();
  await schema.createIndex("alerts_ended_at_site").on("alerts").columns(["site_id", "resolved_at", "id"]).where(sql.ref("resolved_at"), "is not", null).execute();
}
