import type { Kysely } from "kysely";

/** What a site's guards go by, what is right though they would report it, and which probes were asked to learn anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("guard_settings")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("settings", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("guard_exceptions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("kind", "text")
    .addColumn("ip", "text")
    .addColumn("mac", "text")
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .execute();
  await schema.createIndex("guard_exceptions_site").on("guard_exceptions").columns(["site_id", "id"]).execute();
  await schema.createTable("guard_learning")
    .addColumn("probe_id", "text", (c) => c.primaryKey().references("probes.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("command_id", "text", (c) => c.notNull())
    .addColumn("asked_at", "text", (c) => c.notNull())
    .addColumn("asked_by", "text", (c) => c.notNull())
    .addColumn("answer_by", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("error", "text")
    .execute();
}
