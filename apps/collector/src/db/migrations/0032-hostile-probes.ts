import type { Kysely } from "kysely";
import { toInstant } from "@lanthorn/runtime";

/** The moments by which rows are ranked or shown as newest, of every table that takes them from a probe. */
const MOMENTS = {
  devices: ["first_seen", "last_seen"], interfaces: ["first_seen"], addresses: ["first_seen", "last_seen"], evidence: ["seen_at"],
  ports: ["last_scanned"], device_keys: ["first_seen"], device_changes: ["at"], neighbors: ["first_seen", "last_seen"],
  switch_reports: ["first_seen", "last_seen"], alerts: ["first_seen", "last_seen"],
} as const;

/**
 * What bounds a probe that does harm: when its queues began, how far its clock is off, which alerts live events began, how many devices are
 * announced at a site, and how much a scan may bring. What was stored as seen in the future was seen now at the latest.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("probe_queues").addColumn("created_at", "text", (c) => c.notNull().defaultTo("")).execute();
  await schema.createIndex("probe_queues_age").on("probe_queues").columns(["probe_id", "updated_at"]).execute();
  await schema.alterTable("probes").addColumn("clock_offset_ms", "bigint").execute();
  await schema.alterTable("alerts").addColumn("live_at", "text").execute();
  await schema.createIndex("alerts_live").on("alerts").columns(["tenant_id", "type", "live_at"]).execute();
  await schema.createIndex("alerts_open_of_type").on("alerts").columns(["site_id", "type", "status"]).execute();
  await schema.createTable("site_discoveries")
    .addColumn("site_id", "text", (c) => c.primaryKey().references("sites.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("window_at", "text", (c) => c.notNull())
    .addColumn("found", "integer", (c) => c.notNull())
    .addColumn("storm", "integer", (c) => c.notNull())
    .addColumn("storm_since", "text")
    .addColumn("storm_until", "text")
    .execute();
  await schema.alterTable("scans").addColumn("stored_rows", "integer", (c) => c.notNull().defaultTo(0)).execute();
  const now = toInstant(Date.now());
  const tables = db as Kysely<Record<string, Record<string, string>>>;
  for (const [table, columns] of Object.entries(MOMENTS)) {
    for (const column of columns) await tables.updateTable(table).set({ [column]: now }).where(column, ">", now).execute();
  }
}
