import type { Kysely } from "kysely";

/** Filters by presence, type and tag join the index that a filtered list reads instead of the rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.dropIndex("devices_filters").execute();
  await schema.createIndex("devices_filters").on("devices").columns([
    "tenant_id", "hostname", "ip", "ip_key", "vendor", "os_guess", "site_id", "is_online", "presence_state", "device_type", "tags", "id",
  ]).execute();
}
