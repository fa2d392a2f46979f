import type { Kysely } from "kysely";

/** Captures of packets: what probes say of them, where their files are, and what sites have set for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("pcaps")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("trigger", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("detail", "text", (c) => c.notNull())
    .addColumn("is_cut", "integer", (c) => c.notNull())
    .addColumn("file_name", "text", (c) => c.notNull())
    .addColumn("size_bytes", "bigint", (c) => c.notNull())
    .addColumn("sha256", "text", (c) => c.notNull())
    .addColumn("packets", "bigint", (c) => c.notNull())
    .addColumn("started_at", "text")
    .addColumn("finished_at", "text")
    .addColumn("interfaces", "text", (c) => c.notNull())
    .addColumn("filter", "text", (c) => c.notNull())
    .addColumn("snap_length", "integer", (c) => c.notNull())
    .addColumn("headers_only", "integer", (c) => c.notNull())
    .addColumn("counters", "text", (c) => c.notNull())
    .addColumn("alert_ids", "text", (c) => c.notNull())
    .addColumn("macs", "text", (c) => c.notNull())
    .addColumn("ips", "text", (c) => c.notNull())
    .addColumn("summary", "text")
    .addColumn("limits", "text")
    .addColumn("requested_by", "text")
    .addColumn("happened_at", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addColumn("locked_by", "text")
    .addColumn("locked_at", "text")
    .addColumn("lock_reason", "text")
    .addColumn("stored_at", "text")
    .addColumn("stored_bytes", "bigint", (c) => c.notNull())
    .addColumn("key_sealed", "text")
    .addColumn("deleted_at", "text")
    .addColumn("deletion_heard", "integer", (c) => c.notNull())
    .execute();
  await schema.createIndex("pcaps_time").on("pcaps").columns(["tenant_id", "happened_at", "id"]).execute();
  await schema.createIndex("pcaps_probe").on("pcaps").columns(["probe_id", "created_at"]).execute();
  await schema.createIndex("pcaps_site").on("pcaps").columns(["site_id", "stored_at"]).execute();
  await schema.createIndex("pcaps_state").on("pcaps").columns(["state", "updated_at"]).execute();
  await schema.createTable("pcap_links")
    .addColumn("pcap_id", "text", (c) => c.notNull().references("pcaps.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("pcap_links_key", ["pcap_id", "kind", "value"])
    .execute();
  await schema.createIndex("pcap_links_value").on("pcap_links").columns(["tenant_id", "kind", "value"]).execute();
  await schema.createTable("pcap_quotas")
    .addColumn("probe_id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("day_began_at", "text", (c) => c.notNull())
    .addColumn("day_records", "integer", (c) => c.notNull())
    .addColumn("day_updates", "integer", (c) => c.notNull())
    .addColumn("refused", "bigint", (c) => c.notNull())
    .addColumn("reported_at", "text")
    .execute();
  await schema.createTable("capture_settings")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("settings", "text", (c) => c.notNull())
    .execute();
}
