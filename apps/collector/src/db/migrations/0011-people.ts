import type { Kysely } from "kysely";

/** API keys, tickets, failed logins and who did what; and what a site's probes may be asked to scan. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("sites").addColumn("scan_networks", "text", (c) => c.notNull().defaultTo("[]")).execute();
  await schema.alterTable("users").addColumn("email", "text").execute();
  await schema.alterTable("users").addColumn("last_login_at", "text").execute();
  await schema.createIndex("users_tenant").on("users").columns(["tenant_id", "id"]).execute();
  await schema.createTable("api_keys")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("secret_sha256", "text", (c) => c.notNull().unique())
    .addColumn("hint", "text", (c) => c.notNull())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .addColumn("last_used_at", "text")
    .execute();
  await schema.createIndex("api_keys_tenant").on("api_keys").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("api_keys_user").on("api_keys").columns(["user_id", "id"]).execute();
  await schema.createTable("stream_tickets")
    .addColumn("secret_sha256", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull().references("users.id").onDelete("cascade"))
    .addColumn("key_id", "text")
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("token_issued_at", "text", (c) => c.notNull())
    .addColumn("token_expires_at", "text")
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("login_failures")
    .addColumn("username_sha256", "text", (c) => c.notNull())
    .addColumn("address", "text", (c) => c.notNull())
    .addColumn("failed_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("login_failures_key", ["username_sha256", "address"])
    .execute();
  await schema.createIndex("login_failures_age").on("login_failures").column("updated_at").execute();
  await schema.createTable("audit")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("actor_type", "text", (c) => c.notNull())
    .addColumn("actor_id", "text", (c) => c.notNull())
    .addColumn("actor_name", "text", (c) => c.notNull())
    .addColumn("address", "text", (c) => c.notNull())
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("target_type", "text", (c) => c.notNull())
    .addColumn("target_id", "text", (c) => c.notNull())
    .addColumn("before", "text")
    .addColumn("after", "text")
    .execute();
  await schema.createIndex("audit_order").on("audit").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("audit_target").on("audit").columns(["tenant_id", "target_id", "id"]).execute();
}
