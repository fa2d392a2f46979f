import { type ColumnDefinitionBuilder, type Kysely } from "kysely";

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const ofSite = (column: ColumnDefinitionBuilder) => column.notNull().references("sites.id").onDelete("cascade");

/** What decoys saw, who may touch them, and the passwords that were tried at them. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("honeypot_sessions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("key", "text", required)
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", ofSite)
    .addColumn("probe_id", "text", required)
    .addColumn("decoy", "text", required)
    .addColumn("device_id", "text")
    .addColumn("source_ip", "text", required)
    .addColumn("source_mac", "text", required)
    .addColumn("destination_ip", "text", required)
    .addColumn("stage", "text", required)
    .addColumn("severity", "text", required)
    .addColumn("services", "text", required)
    .addColumn("usernames", "text", required)
    .addColumn("connections", "integer", required)
    .addColumn("credentials", "integer", required)
    .addColumn("mitre_techniques", "text", required)
    .addColumn("detail", "text", required)
    .addColumn("is_test", "integer", required)
    .addColumn("started_at", "text", required)
    .addColumn("last_at", "text", required)
    .execute();
  await schema.createIndex("honeypot_sessions_key").unique().on("honeypot_sessions").column("key").execute();
  await schema.createIndex("honeypot_sessions_tenant").on("honeypot_sessions").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("honeypot_sessions_site").on("honeypot_sessions").columns(["site_id", "id"]).execute();
  await schema.createTable("honeypot_rungs")
    .addColumn("session_id", "text", (c) => c.notNull().references("honeypot_sessions.id").onDelete("cascade"))
    .addColumn("stage", "text", required)
    .addColumn("at", "text", required)
    .addColumn("event_id", "text", required)
    .addColumn("service", "text", required)
    .addColumn("source_port", "integer", required)
    .addColumn("destination_port", "integer", required)
    .addColumn("username", "text", required)
    .addColumn("detail", "text", required)
    .addPrimaryKeyConstraint("honeypot_rungs_key", ["session_id", "stage"])
    .execute();
  await schema.createTable("honeypot_exemptions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", ofSite)
    .addColumn("name", "text", required)
    .addColumn("addresses", "text", required)
    .addColumn("ports", "text", required)
    .addColumn("hours", "text")
    .addColumn("reason", "text", required)
    .addColumn("created_by", "text", required)
    .addColumn("created_at", "text", required)
    .addColumn("expires_at", "text")
    .execute();
  await schema.createIndex("honeypot_exemptions_tenant").on("honeypot_exemptions").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("honeypot_exemptions_site").on("honeypot_exemptions").columns(["site_id", "id"]).execute();
  await schema.createTable("honeypot_credentials")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", ofSite)
    .addColumn("session_key", "text", required)
    .addColumn("decoy", "text", required)
    .addColumn("service", "text", required)
    .addColumn("username", "text", required)
    .addColumn("password_sealed", "text", required)
    .addColumn("is_bait", "integer", required)
    .addColumn("tried_at", "text", required)
    .execute();
  await schema.createIndex("honeypot_credentials_tenant").on("honeypot_credentials").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("honeypot_credentials_site").on("honeypot_credentials").columns(["site_id", "id"]).execute();
  await schema.createTable("honeypot_tests")
    .addColumn("honeypot_id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", ofSite)
    .addColumn("probe_id", "text", required)
    .addColumn("command_id", "text", required)
    .addColumn("asked_at", "text", required)
    .addColumn("asked_by", "text", required)
    .addColumn("answer_by", "text", required)
    .addColumn("status", "text", required)
    .addColumn("error", "text")
    .addColumn("session_key", "text")
    .execute();
}
