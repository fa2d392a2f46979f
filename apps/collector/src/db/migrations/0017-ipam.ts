import type { Kysely } from "kysely";

/** Prefixes and addresses as people plan them, and a way to what devices have by number. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("ipam_prefixes")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id"))
    .addColumn("scope", "text", (c) => c.notNull())
    .addColumn("prefix", "text", (c) => c.notNull())
    .addColumn("first_key", "text", (c) => c.notNull())
    .addColumn("last_key", "text", (c) => c.notNull())
    .addColumn("sort_key", "text", (c) => c.notNull())
    .addColumn("length", "integer", (c) => c.notNull())
    .addColumn("family", "integer", (c) => c.notNull())
    .addColumn("vlan_id", "integer")
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addUniqueConstraint("ipam_prefixes_one", ["tenant_id", "prefix", "scope"])
    .execute();
  await schema.createIndex("ipam_prefixes_order").on("ipam_prefixes").columns(["tenant_id", "sort_key", "id"]).execute();
  await schema.createTable("ipam_addresses")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id"))
    .addColumn("scope", "text", (c) => c.notNull())
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("family", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("mac", "text")
    .addColumn("hostname", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addUniqueConstraint("ipam_addresses_one", ["tenant_id", "ip_key", "scope"])
    .execute();
  await schema.createIndex("ipam_addresses_order").on("ipam_addresses").columns(["tenant_id", "ip_key", "id"]).execute();
  await schema.createIndex("addresses_number").on("addresses").columns(["tenant_id", "ip_key", "site_id", "current"]).execute();
}
