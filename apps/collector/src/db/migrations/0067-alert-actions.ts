import type { Kysely } from "kysely";

/** What people did with alerts and why; and an index by which a tenant's alerts are read in the order of their ids, as bulk changes and facets do. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("alert_actions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("alert_id", "text", (c) => c.notNull().references("alerts.id").onDelete("cascade"))
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("by_name", "text", (c) => c.notNull())
    .addColumn("note", "text", (c) => c.notNull())
    .addColumn("muted_until", "text")
    .execute();
  await schema.createIndex("alert_actions_alert").on("alert_actions").columns(["alert_id", "id"]).execute();
  await schema.createIndex("alerts_tenant").on("alerts").columns(["tenant_id", "id"]).execute();
}
