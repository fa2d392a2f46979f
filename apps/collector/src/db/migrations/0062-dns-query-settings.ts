import { type Kysely } from "kysely";

/** How much of what a site's clients ask is reported and how long it is kept, as people decided. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("dns_query_settings")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("level", "text")
    .addColumn("keep_days", "double precision")
    .addColumn("changed_by", "text", (c) => c.notNull())
    .addColumn("changed_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("dns_query_settings_tenant").on("dns_query_settings").column("tenant_id").execute();
}
