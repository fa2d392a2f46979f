import type { Kysely } from "kysely";

/**
 * Licenses, credentials, network devices' configurations, settings of single probes, and syslog receivers. Earlier builds gave `published_state`
 * another name: see 0042.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("licenses")
    .addColumn("tenant_id", "text", (c) => c.primaryKey().references("tenants.id"))
    .addColumn("license", "text", (c) => c.notNull())
    .addColumn("published_state", "text", (c) => c.notNull())
    .addColumn("uploaded_at", "text", (c) => c.notNull())
    .addColumn("uploaded_by", "text", (c) => c.notNull())
    .execute();
  await createVault(db);
  await createConfigurations(db);
}

async function createVault({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("credentials")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull().references("tenants.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("settings", "text", (c) => c.notNull())
    .addColumn("networks", "text", (c) => c.notNull())
    .addColumn("secret_sealed", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addUniqueConstraint("credentials_name", ["tenant_id", "name"])
    .execute();
  await schema.createTable("credential_assignments")
    .addColumn("credential_id", "text", (c) => c.notNull().references("credentials.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.references("sites.id").onDelete("cascade"))
    .addColumn("probe_id", "text", (c) => c.references("probes.id").onDelete("cascade"))
    .execute();
  for (const column of ["credential_id", "site_id", "probe_id"]) {
    await schema.createIndex(`credential_assignments_${column}`).on("credential_assignments").column(column).execute();
  }
  // Of its certificate, and of the one before until the probe has the new one: what it is handed is sealed to these.
  await schema.alterTable("probes").addColumn("public_key", "text").execute();
  await schema.alterTable("probes").addColumn("previous_public_key", "text").execute();
}

async function createConfigurations({ schema }: Kysely<unknown>): Promise<void> {
  // No foreign key to the device: its configurations are evidence, and outlive it until their own time is over.
  await schema.createTable("config_versions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull().references("tenants.id"))
    .addColumn("device_id", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("content_sealed", "text", (c) => c.notNull())
    .addColumn("size_bytes", "integer", (c) => c.notNull())
    .addColumn("lines", "integer", (c) => c.notNull())
    .addColumn("lines_added", "integer", (c) => c.notNull())
    .addColumn("lines_removed", "integer", (c) => c.notNull())
    .addColumn("changed_by", "text", (c) => c.notNull())
    .addColumn("comment", "text", (c) => c.notNull())
    .addColumn("captured_at", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addUniqueConstraint("config_versions_version", ["device_id", "version"])
    .execute();
  await schema.createIndex("config_versions_age").on("config_versions").column("created_at").execute();
  await schema.createIndex("config_versions_tenant").on("config_versions").columns(["tenant_id", "device_id", "version"]).execute();
  await schema.alterTable("probes").addColumn("settings", "text", (c) => c.notNull().defaultTo("{}")).execute();
  await schema.alterTable("probes").addColumn("configuration_revision", "integer", (c) => c.notNull().defaultTo(0)).execute();
  await schema.createTable("probe_health")
    .addColumn("probe_id", "text", (c) => c.notNull().references("probes.id").onDelete("cascade"))
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("health", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("probe_health_key", ["probe_id", "at"])
    .execute();
  await schema.createIndex("probe_health_age").on("probe_health").column("at").execute();
}
