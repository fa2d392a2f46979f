import type { Kysely } from "kysely";

/** What people may do to devices, once each. Filters by presence, type and tag join the index that a filtered list reads instead of the rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.dropIndex("devices_filters").execute();
  await schema.createIndex("devices_filters").on("devices").columns([
    "tenant_id", "hostname", "ip", "ip_key", "vendor", "os_guess", "site_id", "is_online", "presence_state", "device_type", "tags", "id",
  ]).execute();
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
