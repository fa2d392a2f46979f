import { type ColumnDefinitionBuilder, type Kysely } from "kysely";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** What resolvers were asked, by the hour: how often in all, and who for which names. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("dns_query_hours")
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("hour", "text", required)
    .addColumn("tenant_id", "text", required)
    .addColumn("queries", "bigint", required)
    .addColumn("from_cache", "bigint", required)
    .addColumn("failed", "bigint", required)
    .addColumn("blocked", "bigint", required)
    .addColumn("observed", "bigint", required)
    .addColumn("left_out", "bigint", required)
    .addColumn("entries", "integer", required)
    .addColumn("level", "text", required)
    .addColumn("reported_at", "text", required)
    .addPrimaryKeyConstraint("dns_query_hours_key", ["site_id", "hour"])
    .execute();
  await schema.createIndex("dns_query_hours_tenant").on("dns_query_hours").columns(["tenant_id", "hour"]).execute();
  await schema.createTable("dns_queries")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("key", "text", required)
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("hour", "text", required)
    .addColumn("client_ip", "text", required)
    .addColumn("device_id", "text")
    .addColumn("name", "text", required)
    .addColumn("type", "text", required)
    .addColumn("action", "text", required)
    .addColumn("list", "text", required)
    .addColumn("times", "bigint", required)
    .addColumn("first_at", "text", required)
    .addColumn("last_at", "text", required)
    .execute();
  await schema.createIndex("dns_queries_key").unique().on("dns_queries").column("key").execute();
  await schema.createIndex("dns_queries_tenant").on("dns_queries").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("dns_queries_site").on("dns_queries").columns(["site_id", "hour", "id"]).execute();
  await schema.createIndex("dns_queries_hour").on("dns_queries").column("hour").execute();
}
