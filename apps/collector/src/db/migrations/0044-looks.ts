import type { Kysely } from "kysely";

/** Which ports scans ask, and when the ports of a device were last looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("port_scopes")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("tcp", "text", (c) => c.notNull())
    .addColumn("udp", "text", (c) => c.notNull())
    .addColumn("used_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("port_scopes_site").on("port_scopes").columns(["site_id", "used_at"]).execute();
  await schema.createTable("port_looks")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("scope_id", "text", (c) => c.notNull())
    .addColumn("looked_at", "text", (c) => c.notNull())
    .addColumn("scan_id", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("port_looks_key", ["device_id", "scope_id"])
    .execute();
  await schema.createIndex("port_looks_scope").on("port_looks").column("scope_id").execute();
  await schema.alterTable("scans").addColumn("scope_id", "text").execute();
}
