import type { Kysely } from "kysely";

/** What a scan says of devices that answer for what is not there, and how many ports of a host it saw in which state. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("scans").addColumn("remarks", "text", (c) => c.notNull().defaultTo("[]")).execute();
  await schema.alterTable("scan_hosts").addColumn("port_counts", "text").execute();
}
