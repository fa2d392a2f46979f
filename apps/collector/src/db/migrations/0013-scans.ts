import type { Kysely } from "kysely";

/** Scans, and what they found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("scans")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("target", "text", (c) => c.notNull())
    .addColumn("target_first", "text", (c) => c.notNull())
    .addColumn("target_last", "text", (c) => c.notNull())
    .addColumn("profile", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("progress", "double precision", (c) => c.notNull())
    .addColumn("requested_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("started_at", "text")
    .addColumn("finished_at", "text")
    .addColumn("hosts_total", "integer", (c) => c.notNull())
    .addColumn("hosts_up", "integer", (c) => c.notNull())
    .addColumn("ports_open", "integer", (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("presumed", "integer", (c) => c.notNull())
    .addColumn("command_id", "text", (c) => c.notNull().unique())
    .addColumn("cancel_command_id", "text")
    .addColumn("run_id", "text")
    .addColumn("answer_by", "text", (c) => c.notNull())
    .addColumn("heard_at", "text", (c) => c.notNull())
    .addColumn("orphaned_at", "text")
    .execute();
  await schema.createIndex("scans_order").on("scans").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("scans_status").on("scans").columns(["status", "site_id"]).execute();
  await schema.createIndex("scans_probe").on("scans").columns(["probe_id", "status"]).execute();
  await schema.createIndex("scans_finished").on("scans").column("finished_at").execute();
  await schema.createTable("scan_hosts")
    .addColumn("scan_id", "text", (c) => c.notNull().references("scans.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("mac", "text", (c) => c.notNull())
    .addColumn("seen_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("scan_hosts_key", ["scan_id", "ip_key"])
    .execute();
  await schema.createTable("scan_ports")
    .addColumn("scan_id", "text", (c) => c.notNull().references("scans.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("port", "integer", (c) => c.notNull())
    .addColumn("protocol", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("service", "text", (c) => c.notNull())
    .addColumn("version", "text", (c) => c.notNull())
    .addColumn("banner", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("scan_ports_key", ["scan_id", "ip_key", "port", "protocol"])
    .execute();
}
