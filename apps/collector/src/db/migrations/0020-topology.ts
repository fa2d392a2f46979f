import type { Kysely } from "kysely";

/** Neighbors that probes hear on their own links. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("neighbors")
    .addColumn("probe_id", "text", (c) => c.notNull().references("probes.id").onDelete("cascade"))
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("data", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("current", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("neighbors_key", ["probe_id", "key"])
    .execute();
  await schema.createIndex("neighbors_site").on("neighbors").columns(["tenant_id", "site_id", "current", "last_seen"]).execute();
}
