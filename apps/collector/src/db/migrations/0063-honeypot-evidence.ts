import { type ColumnDefinitionBuilder, type Kysely } from "kysely";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Transcripts of shells at decoys, files that were sent to them, and which programs the clients were. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("honeypot_evidence")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("key", "text", required)
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("session_key", "text", required)
    .addColumn("kind", "text", required)
    .addColumn("service", "text", required)
    .addColumn("recorded_at", "text", required)
    .addColumn("name", "text", required)
    .addColumn("value", "text", required)
    .addColumn("octets", "integer", required)
    .addColumn("is_kept", "integer", required)
    .execute();
  await schema.createIndex("honeypot_evidence_key").unique().on("honeypot_evidence").column("key").execute();
  await schema.createIndex("honeypot_evidence_session").on("honeypot_evidence").columns(["session_key", "kind", "id"]).execute();
  await schema.createIndex("honeypot_evidence_site").on("honeypot_evidence").columns(["site_id", "id"]).execute();
}
