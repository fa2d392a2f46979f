import type { Kysely } from "kysely";

/** What people may do to devices, once each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await indexDevices(db);
  await identifyDevices(db);
  await schema.createTable("idempotency_keys")
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("caller", "text", (c) => c.notNull())
    .addColumn("key_sha256", "text", (c) => c.notNull())
    .addColumn("fingerprint", "text", (c) => c.notNull())
    .addColumn("run_id", "text", (c) => c.notNull().unique())
    .addColumn("leased_until", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("answer", "text")
    .addPrimaryKeyConstraint("idempotency_keys_key", ["tenant_id", "caller", "key_sha256"])
    .execute();
  await schema.createIndex("idempotency_keys_end").on("idempotency_keys").column("expires_at").execute();
}

/**
 * Lists walk the index of their order; with the site in it, a site's list reads no rows but its own. Filters that few
 * devices may match read one index whole, where type is given only its part: it holds what they look at and nothing that
 * changes with every sighting. Names, addresses and MACs are searched in indexes of their own.
 */
async function indexDevices(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  for (const field of ["ip_key", "hostname", "vendor", "last_seen"]) {
    await schema.dropIndex(`devices_${field}`).execute();
    await schema.createIndex(`devices_${field}`).on("devices").columns(["tenant_id", field, "id", "site_id"]).execute();
  }
  await schema.dropIndex("devices_filters").execute();
  await schema.createIndex("devices_filters").on("devices")
    .columns(["tenant_id", "device_type", "presence_state", "is_online", "tags", "vendor", "os_guess", "site_id", "id"]).execute();
}

/** What devices are known by beyond their interfaces, and which of them were found to be one. */
async function identifyDevices(db: Kysely<unknown>): Promise<void> {
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
