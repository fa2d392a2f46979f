import type { Webhook, WebhookAttempt, WebhookDelivery } from "@lanthorn/contract";
import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** A webhook as stored. `events` is JSON text, `active` is 0 or 1, both secrets are sealed, `worker_id` is the process that sends to it. */
export type WebhookRow = Selectable<Schema["webhooks"]>;
/** A delivery as stored. `lane` is null when nothing further is sent; `attempts` is JSON text, oldest first; `event_seq` 0 is a test. */
export type DeliveryRow = Selectable<Schema["webhook_deliveries"]>;

/** A webhook's row as the API shows it. */
export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id, url: row.url, events: JSON.parse(row.events) as Webhook["events"], active: row.active === 1,
    status: row.status as Webhook["status"],
    created_at: row.created_at, last_delivery_at: row.last_delivery_at, secret_hint: row.secret_hint,
    previous_secret_until: row.previous_secret_until,
  };
}

/** A delivery's row as the API shows it. What is not a retry is due since it was made. */
export function toDelivery(row: DeliveryRow): WebhookDelivery {
  const { id, event_id, attempt, requested_at, status_code, response_time_ms, error, response_excerpt, created_at } = row;
  return {
    id, event_id, event: row.event as WebhookDelivery["event"], status: row.status as WebhookDelivery["status"],
    attempt, requested_at, status_code, response_time_ms, error, response_excerpt, created_at,
    next_attempt_at: row.lane === null ? null : (row.retry_at ?? created_at),
    attempts: JSON.parse(row.attempts) as WebhookAttempt[],
  };
}
