import type { Kysely } from "kysely";

/** What devices are known by beyond their interfaces, and which of them were found to be one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("devices").addColumn("mac_count", "integer", (c) => c.notNull().defaultTo(1)).execute();
  await schema.alterTable("interfaces").addColumn("presence_state", "text", (c) => c.notNull().defaultTo("unknown")).execute();
  await schema.createTable("device_keys")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("device_keys_key", ["site_id", "key", "device_id"])
    .execute();
  await schema.createIndex("device_keys_device").on("device_keys").column("device_id").execute();
  await schema.createTable("device_merges")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull())
    .addColumn("kept_id", "text", (c) => c.notNull())
    .addColumn("merged_id", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("by_type", "text", (c) => c.notNull())
    .addColumn("by_id", "text", (c) => c.notNull())
    .addColumn("by_name", "text", (c) => c.notNull())
    .addColumn("reasons", "text", (c) => c.notNull())
    .addColumn("snapshot", "text")
    .addColumn("undone_at", "text")
    .execute();
  for (const side of ["kept_id", "merged_id"]) await schema.createIndex(`device_merges_${side}`).on("device_merges")
    .columns(["tenant_id", side]).execute();
}
