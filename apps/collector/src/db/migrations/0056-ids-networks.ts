import type { Kysely } from "kysely";

/** Networks that rules of intrusion detection take for a site's own, where somebody has said so; and what was last said of how a rule set is. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("ids_site_networks")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("home_networks", "text", (c) => c.notNull())
    .execute();
  await schema.alterTable("ids_rulesets").addColumn("reported", "text", (c) => c.notNull().defaultTo("")).execute();
}
