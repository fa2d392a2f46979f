import type { Kysely } from "kysely";

/** Files that probes send up in pieces. The bytes lie in the data directory; the rows say how far each is and what counts for quotas. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("probe_files")
    .addColumn("probe_id", "text", (c) => c.notNull().references("probes.id").onDelete("cascade"))
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("size", "bigint", (c) => c.notNull())
    .addColumn("sha256", "text", (c) => c.notNull())
    .addColumn("received", "bigint", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("probe_files_key", ["probe_id", "id"])
    .execute();
  await schema.createIndex("probe_files_age").on("probe_files").columns(["state", "updated_at"]).execute();
}
