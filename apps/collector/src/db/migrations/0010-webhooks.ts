import type { Kysely } from "kysely";

/** Webhooks, what is on its way to them, who sends it, and the e-mails about them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable("tenants").addColumn("webhooks_revision", "integer", (c) => c.notNull().defaultTo(0)).execute();
  await schema.createTable("webhooks")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull().references("tenants.id"))
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("events", "text", (c) => c.notNull())
    .addColumn("active", "integer", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("failing_since", "text")
    .addColumn("secret_sealed", "text", (c) => c.notNull())
    .addColumn("secret_hint", "text", (c) => c.notNull())
    .addColumn("previous_secret_sealed", "text")
    .addColumn("previous_secret_until", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("last_delivery_at", "text")
    .addColumn("worker_id", "text")
    .execute();
  await schema.createIndex("webhooks_tenant").on("webhooks").columns(["tenant_id", "id"]).execute();
  await schema.createIndex("webhooks_worker").on("webhooks").column("worker_id").execute();
  await createDeliveries(db);
  await schema.createTable("delivery_workers")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("beats", "bigint", (c) => c.notNull())
    .execute();
  await schema.createTable("webhook_notices")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("webhook_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("detail", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("next_attempt_at", "text")
    .addColumn("error", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("webhook_notices_due").on("webhook_notices").columns(["status", "next_attempt_at"]).execute();
}

/** No foreign keys: a webhook with a hundred thousand deliveries is deleted at once, and they go bit by bit afterwards. */
async function createDeliveries({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createTable("webhook_deliveries")
    .addColumn("webhook_id", "text", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("event_id", "text", (c) => c.notNull())
    .addColumn("event", "text", (c) => c.notNull())
    .addColumn("event_seq", "bigint", (c) => c.notNull())
    .addColumn("lane", "text")
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("requested_at", "text")
    .addColumn("status_code", "integer")
    .addColumn("response_time_ms", "integer")
    .addColumn("error", "text")
    .addColumn("response_excerpt", "text")
    .addColumn("attempts", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("retry_at", "text")
    .addPrimaryKeyConstraint("webhook_deliveries_key", ["webhook_id", "id"])
    .execute();
  // Only what is still on its way, so that they stay small however much was delivered; `lane = …` and `retry_at <= …` are known to
  // imply the condition.
  await schema.createIndex("webhook_deliveries_lanes").on("webhook_deliveries").columns(["webhook_id", "lane", "event_seq"])
    .where("lane", "is not", null).execute();
  await schema.createIndex("webhook_deliveries_retries").on("webhook_deliveries").columns(["webhook_id", "retry_at"])
    .where("retry_at", "is not", null).execute();
}
