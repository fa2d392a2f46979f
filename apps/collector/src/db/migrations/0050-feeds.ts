import type { Kysely } from "kysely";

/** Downloaded data: what is known of each feed, and the updates that fetch it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("feeds")
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("validators", "text", (c) => c.notNull())
    .addColumn("cursor", "text")
    .addColumn("files", "text", (c) => c.notNull())
    .addColumn("is_whole", "integer", (c) => c.notNull())
    .addColumn("is_pending", "integer", (c) => c.notNull())
    .addColumn("records", "bigint")
    .addColumn("configured_share", "double precision")
    .addColumn("requested_at", "text")
    .addColumn("answered_at", "text")
    .addColumn("consumed_at", "text")
    .addColumn("next_at", "text")
    .addColumn("not_before", "text")
    .addColumn("failures", "integer", (c) => c.notNull())
    .addColumn("error_code", "text")
    .addColumn("error", "text")
    .addColumn("reported", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("feed_updates")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("running_key", "text", (c) => c.unique())
    .addColumn("trigger", "text", (c) => c.notNull())
    .addColumn("requested_by", "text", (c) => c.notNull())
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("beats", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("progress", "text", (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("started_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .execute();
}
