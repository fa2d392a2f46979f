import { type ColumnDefinitionBuilder, type Kysely } from "kysely";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Addresses of decoys, as the probes beside them report them: they are no devices, and nobody else is to get them. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("honeypot_addresses")
    .addColumn("probe_id", "text", (c) => c.notNull().references("probes.id").onDelete("cascade"))
    .addColumn("ip", "text", required)
    .addColumn("ip_key", "text", required)
    .addColumn("tenant_id", "text", required)
    .addColumn("site_id", "text", required)
    .addColumn("decoy", "text", required)
    .addPrimaryKeyConstraint("honeypot_addresses_key", ["probe_id", "ip"])
    .execute();
  await schema.createIndex("honeypot_addresses_site").on("honeypot_addresses").columns(["site_id", "ip"]).execute();
  await schema.createIndex("honeypot_addresses_number").on("honeypot_addresses").columns(["tenant_id", "ip_key"]).execute();
}
