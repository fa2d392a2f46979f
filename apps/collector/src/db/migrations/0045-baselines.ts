import type { Kysely } from "kysely";

/** What is normal of sites and devices, what differs from it, and what people said of that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("baselines")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("device_id", "text", (c) => c.references("devices.id").onDelete("cascade"))
    .addColumn("scope", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("learning_until", "text")
    .addColumn("learned_at", "text")
    .addColumn("approved_by", "text")
    .addColumn("approved_at", "text")
    .addColumn("settings", "text", (c) => c.notNull())
    .addColumn("presence", "text", (c) => c.notNull())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("compare_at", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("baselines_scope").unique().on("baselines").columns(["site_id", "scope"]).execute();
  await schema.createIndex("baselines_tenant").on("baselines").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("baselines_device").on("baselines").column("device_id").execute();
  await schema.createIndex("baselines_due").on("baselines").column("compare_at").execute();

  await schema.createTable("baseline_facts")
    .addColumn("baseline_id", "text", (c) => c.notNull().references("baselines.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("author", "text")
    .addColumn("reason", "text")
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("looked_at", "text")
    .addColumn("scope", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("baseline_facts_key", ["baseline_id", "kind", "key"])
    .execute();

  await schema.createTable("baseline_acceptances")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("device_id", "text", (c) => c.references("devices.id").onDelete("cascade"))
    .addColumn("tag", "text")
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("outcome", "text", (c) => c.notNull())
    .addColumn("observed", "text", (c) => c.notNull())
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .execute();
  await schema.createIndex("baseline_acceptances_tenant").on("baseline_acceptances").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("baseline_acceptances_device").on("baseline_acceptances").column("device_id").execute();

  await schema.createTable("baseline_differences")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("device_id", "text")
    .addColumn("baseline_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("outcome", "text", (c) => c.notNull())
    .addColumn("expected", "text", (c) => c.notNull())
    .addColumn("observed", "text", (c) => c.notNull())
    .addColumn("expected_at", "text")
    .addColumn("observed_at", "text")
    .addColumn("severity", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("ended_at", "text")
    .addColumn("acceptance_id", "text")
    .addColumn("open_key", "text", (c) => c.unique())
    .execute();
  await schema.createIndex("baseline_differences_tenant").on("baseline_differences").columns(["tenant_id", "state", "id"]).execute();
  await schema.createIndex("baseline_differences_baseline").on("baseline_differences").columns(["baseline_id", "state"]).execute();
  await schema.createIndex("baseline_differences_device").on("baseline_differences").column("device_id").execute();
  await schema.createIndex("baseline_differences_ended").on("baseline_differences").column("ended_at").execute();

  await schema.createTable("baseline_templates")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("tag", "text", (c) => c.notNull())
    .addColumn("facts", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("baseline_templates_name").unique().on("baseline_templates").columns(["tenant_id", "name"]).execute();

  await schema.createTable("baseline_windows")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("device_id", "text", (c) => c.references("devices.id").onDelete("cascade"))
    .addColumn("tag", "text")
    .addColumn("begins_at", "text", (c) => c.notNull())
    .addColumn("ends_at", "text", (c) => c.notNull())
    .addColumn("effect", "text", (c) => c.notNull())
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("baseline_windows_site").on("baseline_windows").columns(["site_id", "ends_at"]).execute();

  await schema.createTable("baseline_cursors")
    .addColumn("tenant_id", "text", (c) => c.primaryKey())
    .addColumn("seq", "bigint", (c) => c.notNull())
    .execute();
}
