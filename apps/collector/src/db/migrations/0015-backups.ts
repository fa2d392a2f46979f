import type { Kysely } from "kysely";

/** Backups: what was asked for, and what became of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("backups")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    // One at a time, whichever collector makes it: the constraint holds whatever the code does.
    .addColumn("running_key", "text", (c) => c.unique())
    .addColumn("trigger", "text", (c) => c.notNull())
    .addColumn("requested_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("heard_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .addColumn("engine", "text", (c) => c.notNull())
    .addColumn("version", "text", (c) => c.notNull())
    .addColumn("recipients", "text", (c) => c.notNull())
    .addColumn("file_name", "text", (c) => c.notNull())
    .addColumn("size_bytes", "bigint")
    .addColumn("sha256", "text")
    .addColumn("table_count", "bigint")
    .addColumn("row_count", "bigint")
    .addColumn("error", "text")
    .addColumn("verify_status", "text")
    .addColumn("verify_method", "text")
    .addColumn("verify_error", "text")
    .addColumn("verified_at", "text")
    .execute();
  await schema.createIndex("backups_order").on("backups").columns(["tenant_id", "id"]).execute();
}
