import type { Kysely } from "kysely";

/** What people may do to devices, once each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await indexDevices(db);
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
