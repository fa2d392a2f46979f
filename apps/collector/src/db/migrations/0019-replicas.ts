import { type Kysely, PostgresAdapter, sql } from "kysely";

/** What several collectors on one database share: who looks after things, secrets, and who has asked how often. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("leases")
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("beats", "bigint", (c) => c.notNull())
    .execute();
  await schema.createTable("kept_secrets")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("content_sealed", "text", (c) => c.notNull())
    .execute();
  const requests = schema.createTable("request_times")
    .addColumn("caller", "text", (c) => c.primaryKey())
    .addColumn("times", "text", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull());
  // Written at each request and worth nothing after a minute: without a log, no request waits for a disk.
  await (db.getExecutor().adapter instanceof PostgresAdapter ? requests.modifyFront(sql`unlogged`) : requests).execute();
}
