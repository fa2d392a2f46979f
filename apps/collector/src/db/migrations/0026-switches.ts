import type { Kysely } from "kysely";

/** What switches answer to a probe that polls them by SNMP, as it reported last. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("switch_reports")
    .addColumn("probe_id", "text", (c) => c.notNull().references("probes.id").onDelete("cascade"))
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("data", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("current", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("switch_reports_key", ["probe_id", "ip"])
    .execute();
  await schema.createIndex("switch_reports_site").on("switch_reports").columns(["tenant_id", "site_id", "current", "last_seen"]).execute();
}
