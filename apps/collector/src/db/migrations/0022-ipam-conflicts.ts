import type { Kysely } from "kysely";

/**
 * Address conflicts as they were found last, so that each is published once when it begins and once when it ends. Earlier builds gave
 * `published` another name: see 0042.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable("ipam_conflicts")
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("kinds", "text", (c) => c.notNull())
    .addColumn("published", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("ipam_conflicts_key", ["tenant_id", "site_id", "ip_key"])
    .execute();
}
