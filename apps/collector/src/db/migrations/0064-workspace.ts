import { type Kysely } from "kysely";

/** How people look at things: saved views, preferences, and where they have put the nodes of a site's map. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("views")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id").onDelete("cascade"))
    .addColumn("list", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("filter", "text", (c) => c.notNull())
    .addColumn("sort", "text", (c) => c.notNull())
    .addColumn("columns", "text", (c) => c.notNull())
    .addColumn("is_shared", "integer", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("views_tenant").on("views").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("views_user").on("views").column("user_id").execute();
  await schema.createTable("user_preferences")
    .addColumn("user_id", "text", (c) => c.primaryKey().references("users.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("preferences", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("map_pins")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("pins", "text", (c) => c.notNull())
    .addColumn("updated_by", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .execute();
}
