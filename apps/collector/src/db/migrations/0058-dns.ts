import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from "kysely";

/** The filtering resolver: lists and their versions, policies, what people decided, and what each site was given. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createLists(db);
  await createPolicies(db);
}

const required = (column: ColumnDefinitionBuilder) => column.notNull();

async function createLists({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("dns_lists")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("name", "text", required)
    .addColumn("category", "text", required)
    .addColumn("kind", "text", required)
    .addColumn("place", "text", required)
    .addColumn("format", "text")
    .addColumn("origin", "text")
    .addColumn("may_rewrite", "integer", required)
    .addColumn("checksum_url", "text")
    .addColumn("interval_hours", "double precision", required)
    .addColumn("is_enabled", "integer", required)
    .addColumn("is_automatic", "integer", required)
    .addColumn("active_version", "integer")
    .addColumn("last_version", "integer", required)
    .addColumn("validators", "text", required)
    .addColumn("next_at", "text")
    .addColumn("checked_at", "text")
    .addColumn("failures", "integer", required)
    .addColumn("error", "text")
    .addColumn("reported", "text", required)
    .addColumn("created_by", "text", required)
    .addColumn("created_at", "text", required)
    .execute();
  await schema.createIndex("dns_lists_tenant").on("dns_lists").columns(["tenant_id", "id"]).execute();
  await schema.createTable("dns_list_versions")
    .addColumn("list_id", "text", (c) => c.notNull().references("dns_lists.id").onDelete("cascade"))
    .addColumn("version", "integer", required)
    .addColumn("digest", "text", required)
    .addColumn("is_held", "integer", required)
    .addColumn("note", "text", required)
    .addColumn("format", "text", required)
    .addColumn("bytes", "integer", required)
    .addColumn("parts", "text", required)
    .addColumn("rules", "integer", required)
    .addColumn("refused", "integer", required)
    .addColumn("refusals", "text", required)
    .addColumn("added", "integer", required)
    .addColumn("removed", "integer", required)
    .addColumn("created_at", "text", required)
    .addColumn("activated_at", "text")
    .addPrimaryKeyConstraint("dns_list_versions_key", ["list_id", "version"])
    .execute();
  await schema.createTable("dns_list_pieces")
    .addColumn("list_id", "text", (c) => c.notNull().references("dns_lists.id").onDelete("cascade"))
    .addColumn("version", "integer", required)
    .addColumn("piece", "integer", required)
    .addColumn("content", "text", required)
    .addPrimaryKeyConstraint("dns_list_pieces_key", ["list_id", "version", "piece"])
    .execute();
}

async function createPolicies({ schema }: Kysely<unknown>): Promise<void> {
  await withScope(schema.createTable("dns_policies"))
    .addColumn("name", "text", required)
    .addColumn("settings", "text", required)
    .execute();
  await withScope(schema.createTable("dns_decisions"))
    .addColumn("kind", "text", required)
    .addColumn("name", "text", required)
    .addColumn("has_subdomains", "integer", required)
    .addColumn("reason", "text", required)
    .addColumn("expires_at", "text")
    .execute();
  for (const table of ["dns_policies", "dns_decisions"]) {
    await schema.createIndex(`${table}_tenant`).on(table).columns(["tenant_id", "id"]).execute();
    await schema.createIndex(`${table}_device`).on(table).column("device_id").execute();
  }
  await schema.createTable("dns_site_bundles")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", required)
    .addColumn("version", "integer", required)
    .addColumn("digest", "text", required)
    .addColumn("rules", "integer", required)
    .addColumn("bytes", "integer", required)
    .addColumn("error", "text")
    .addColumn("built_at", "text", required)
    .execute();
}

/** What a policy and a decision have: whose it is, and for whom. */
function withScope(table: CreateTableBuilder<string>): CreateTableBuilder<string> {
  return table
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", required)
    .addColumn("device_id", "text", (c) => c.references("devices.id").onDelete("cascade"))
    .addColumn("group_tag", "text")
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("vlan", "integer")
    .addColumn("created_by", "text", required)
    .addColumn("created_at", "text", required) as CreateTableBuilder<string>;
}
