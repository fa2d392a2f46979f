import type { Kysely } from "kysely";

/** Commands about captures whose reply somebody waits for, perhaps in another process than the one that gets it; and live views. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("pcap_commands")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("reply", "text")
    .execute();
  await schema.createTable("pcap_watches")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id").onDelete("cascade"))
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("actor_id", "text", (c) => c.notNull())
    .addColumn("interface", "text")
    .addColumn("filter", "text", (c) => c.notNull())
    .addColumn("snap_length", "integer", (c) => c.notNull())
    .addColumn("used_at", "text", (c) => c.notNull())
    .execute();
}
