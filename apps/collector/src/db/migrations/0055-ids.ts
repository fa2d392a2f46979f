import type { Kysely } from "kysely";

/** Rules of intrusion detection: where they come from, what people change in them and suppress, what each site was given, and how often signatures match. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRulesets(db);
  await createNoise(db);
}

async function createRulesets({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("ids_rulesets")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("place", "text", (c) => c.notNull())
    .addColumn("checksum_url", "text")
    .addColumn("interval_hours", "double precision", (c) => c.notNull())
    .addColumn("is_enabled", "integer", (c) => c.notNull())
    .addColumn("is_automatic", "integer", (c) => c.notNull())
    .addColumn("active_version", "integer")
    .addColumn("last_version", "integer", (c) => c.notNull())
    .addColumn("validators", "text", (c) => c.notNull())
    .addColumn("next_at", "text")
    .addColumn("checked_at", "text")
    .addColumn("failures", "integer", (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("ids_rulesets_tenant").on("ids_rulesets").columns(["tenant_id", "id"]).execute();
  await schema.createTable("ids_ruleset_versions")
    .addColumn("ruleset_id", "text", (c) => c.notNull().references("ids_rulesets.id").onDelete("cascade"))
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("is_held", "integer", (c) => c.notNull())
    .addColumn("note", "text", (c) => c.notNull())
    .addColumn("bytes", "integer", (c) => c.notNull())
    .addColumn("rules", "integer", (c) => c.notNull())
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addColumn("refused", "integer", (c) => c.notNull())
    .addColumn("added", "integer", (c) => c.notNull())
    .addColumn("removed", "integer", (c) => c.notNull())
    .addColumn("changed", "integer", (c) => c.notNull())
    .addColumn("newly_refused", "integer", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("activated_at", "text")
    .addPrimaryKeyConstraint("ids_ruleset_versions_key", ["ruleset_id", "version"])
    .execute();
  await schema.createTable("ids_version_pieces")
    .addColumn("ruleset_id", "text", (c) => c.notNull().references("ids_rulesets.id").onDelete("cascade"))
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("piece", "integer", (c) => c.notNull())
    .addColumn("content", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("ids_version_pieces_key", ["ruleset_id", "version", "piece"])
    .execute();
  await schema.createTable("ids_overrides")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("state", "text")
    .addColumn("change", "text", (c) => c.notNull())
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("ids_overrides_tenant").on("ids_overrides").columns(["tenant_id", "id"]).execute();
  await schema.createTable("ids_site_bundles")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("rules", "integer", (c) => c.notNull())
    .addColumn("refused", "integer", (c) => c.notNull())
    .addColumn("faults", "text", (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("built_at", "text", (c) => c.notNull())
    .execute();
}

async function createNoise({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("ids_suppressions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("signature_id", "bigint")
    .addColumn("generator_id", "bigint", (c) => c.notNull())
    .addColumn("category", "text")
    .addColumn("source", "text")
    .addColumn("destination", "text")
    .addColumn("network", "text")
    .addColumn("device_id", "text", (c) => c.references("devices.id").onDelete("cascade"))
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("hits", "bigint", (c) => c.notNull())
    .addColumn("last_hit_at", "text")
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text")
    .execute();
  await schema.createIndex("ids_suppressions_tenant").on("ids_suppressions").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("ids_suppressions_device").on("ids_suppressions").column("device_id").execute();
  await schema.createTable("ids_signature_counts")
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("day", "text", (c) => c.notNull())
    .addColumn("generator_id", "bigint", (c) => c.notNull())
    .addColumn("signature_id", "bigint", (c) => c.notNull())
    .addColumn("host", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("signature", "text", (c) => c.notNull())
    .addColumn("category", "text", (c) => c.notNull())
    .addColumn("alerts", "bigint", (c) => c.notNull())
    .addColumn("suppressed", "bigint", (c) => c.notNull())
    .addColumn("would_block", "bigint", (c) => c.notNull())
    .addColumn("last_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("ids_signature_counts_key", ["site_id", "day", "generator_id", "signature_id", "host"])
    .execute();
  await schema.createIndex("ids_signature_counts_tenant").on("ids_signature_counts").columns(["tenant_id", "day"]).execute();
}
