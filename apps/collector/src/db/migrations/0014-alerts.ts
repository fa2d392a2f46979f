import type { Kysely } from "kysely";

/** Alerts, and what is muted of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("alerts")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text")
    .addColumn("device_id", "text")
    .addColumn("device_ip", "text", (c) => c.notNull())
    .addColumn("probe_id", "text")
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    // Of what is not resolved, one of a kind: the constraint holds whatever the code does.
    .addColumn("open_key", "text", (c) => c.unique())
    .addColumn("severity", "text", (c) => c.notNull())
    .addColumn("severity_rank", "integer", (c) => c.notNull())
    .addColumn("title", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("count", "integer", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("evidence", "text", (c) => c.notNull())
    .addColumn("mitre_techniques", "text", (c) => c.notNull())
    .addColumn("notified", "integer", (c) => c.notNull())
    .addColumn("quiet_at", "text")
    .addColumn("acknowledged_by", "text")
    .addColumn("acknowledged_at", "text")
    .addColumn("resolved_by", "text")
    .addColumn("resolved_at", "text")
    .execute();
  for (const field of ["last_seen", "first_seen", "severity_rank", "count"]) {
    await schema.createIndex(`alerts_${field}`).on("alerts").columns(["tenant_id", field, "id"]).execute();
  }
  await schema.createIndex("alerts_storm").on("alerts").columns(["tenant_id", "type", "first_seen"]).execute();
  await schema.createIndex("alerts_device").on("alerts").columns(["tenant_id", "device_id", "last_seen"]).execute();
  await schema.createIndex("alerts_status").on("alerts").columns(["tenant_id", "status", "last_seen"]).execute();
  for (const moment of ["quiet_at", "resolved_at"]) await schema.createIndex(`alerts_${moment}`).on("alerts").column(moment).execute();
  await schema.createTable("alert_mutes")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("source", "text")
    .addColumn("type", "text")
    .addColumn("subject", "text")
    .addColumn("site_id", "text")
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("alert_mutes_tenant").on("alert_mutes").columns(["tenant_id", "id"]).execute();
}
