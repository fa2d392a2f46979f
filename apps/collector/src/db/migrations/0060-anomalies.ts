import { type ColumnDefinitionBuilder, type Kysely } from "kysely";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** What devices did that is not usual for them, and what people say of it. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("anomalies")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("probe_id", "text")
    .addColumn("incident_id", "text", required)
    .addColumn("device_id", "text")
    .addColumn("kind", "text", required)
    .addColumn("device", "text", required)
    .addColumn("device_group", "text", required)
    .addColumn("ip", "text", required)
    .addColumn("mac", "text", required)
    .addColumn("severity", "text", required)
    .addColumn("is_alert", "integer", required)
    .addColumn("feedback_id", "text")
    .addColumn("found_at", "text", required)
    .addColumn("data", "text", required)
    .execute();
  await schema.createIndex("anomalies_tenant").on("anomalies").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("anomalies_site").on("anomalies").columns(["site_id", "id"]).execute();
  await schema.createIndex("anomalies_device").on("anomalies").columns(["device_id", "id"]).execute();
  await schema.createIndex("anomalies_incident").unique().on("anomalies").columns(["site_id", "incident_id"]).execute();
  await schema.createTable("anomaly_feedback")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("kind", "text", required)
    .addColumn("device", "text")
    .addColumn("device_group", "text")
    .addColumn("reason", "text", required)
    .addColumn("created_by", "text", required)
    .addColumn("created_at", "text", required)
    .addColumn("expires_at", "text")
    .execute();
  await schema.createIndex("anomaly_feedback_site").on("anomaly_feedback").columns(["site_id", "id"]).execute();
}
