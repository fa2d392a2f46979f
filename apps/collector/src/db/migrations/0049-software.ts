import { type Kysely, sql } from "kysely";

const TEXTS = ["vendor", "product", "product_version", "edition", "distribution", "package_version", "cpe", "cpe_key"] as const;

/** What answers at ports and runs on hosts, by vendor, product, version, build and CPE; and which devices' software has changed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  for (const column of TEXTS) await schema.alterTable("ports").addColumn(column, "text", (c) => c.notNull().defaultTo("")).execute();
  await schema.alterTable("ports").addColumn("software_confidence", "double precision", (c) => c.notNull().defaultTo(0)).execute();
  await schema.createIndex("ports_cpe").on("ports").columns(["cpe_key", "device_id"]).where(sql.ref("cpe_key"), "<>", sql.lit("")).execute();
  await schema.createTable("device_software")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("vendor", "text", (c) => c.notNull())
    .addColumn("product", "text", (c) => c.notNull())
    .addColumn("product_version", "text", (c) => c.notNull())
    .addColumn("edition", "text", (c) => c.notNull())
    .addColumn("distribution", "text", (c) => c.notNull())
    .addColumn("package_version", "text", (c) => c.notNull())
    .addColumn("cpe", "text", (c) => c.notNull())
    .addColumn("cpe_key", "text", (c) => c.notNull())
    .addColumn("software_confidence", "double precision", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("device_software_key", ["device_id", "source", "product"])
    .execute();
  await schema.createIndex("device_software_cpe").on("device_software").columns(["cpe_key", "device_id"]).where(sql.ref("cpe_key"), "<>", sql.lit("")).execute();
  await schema.createTable("software_changes")
    .addColumn("device_id", "text", (c) => c.primaryKey().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("since", "text", (c) => c.notNull())
    .addColumn("revision", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("software_changes_since").on("software_changes").columns(["since", "device_id"]).execute();
}
