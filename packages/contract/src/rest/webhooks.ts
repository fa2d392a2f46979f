import * as z from "zod";
import { WEBHOOK_EVENTS } from "../events/table.ts";
import { Id, Instant } from "../values.ts";
import { BooleanQuery, IdPageQuery, PeriodQuery } from "./envelopes.ts";

/** An absolute URL; which ones are allowed is the deployment's choice and answered by the service. */
const WebhookUrl = z.string().min(1).max(2048);
/** Standard Webhooks asks for 24 to 64 bytes. @see https://www.standardwebhooks.com (Symmetric, "Signature scheme") */
const MIN_SECRET_BYTES = 24;
/** HMAC key as its UTF-8 bytes. One that begins with `whsec_` and goes on in Base64 is, for `webhook-signature`, the decoded bytes. */
const SigningSecret = z.string().max(255).refine((secret) => keyBytes(secret) >= MIN_SECRET_BYTES, {
  error: `must have at least ${MIN_SECRET_BYTES} bytes`,
});
/** Every event, those of later versions too. */
export const ALL_EVENTS = "*";
const Subscriptions = z.array(z.enum([ALL_EVENTS, ...WEBHOOK_EVENTS])).min(1).max(WEBHOOK_EVENTS.length)
  .refine((events) => new Set(events).size === events.length, "must name each event once")
  .refine((events) => events.length === 1 || !events.includes(ALL_EVENTS), "must be `*` alone, or names of events")
  .describe("The events that are sent to it: names, or `*` alone for every event.");

/** A webhook to be created. Whether its URL is allowed is the deployment's configuration. */
export const WebhookCreate = z.strictObject({
  url: WebhookUrl.describe("Where events are sent: an `https` URL that the deployment allows."),
  secret: SigningSecret.optional()
    .describe("The key that signs deliveries, at least 24 bytes. Left out: the collector creates one and shows it only in this answer."),
  events: Subscriptions,
  active: z.boolean().default(true).describe("Whether events are sent now."),
});
export type WebhookCreate = z.infer<typeof WebhookCreate>;

/** Fields left out stay. `secret` sets a new one, `rotate_secret` makes one; the old one signs too for 24 hours. */
export const WebhookUpdate = z.strictObject({
  url: WebhookUrl.optional().describe("Where events are sent: an `https` URL that the deployment allows."),
  secret: SigningSecret.optional().describe("A new key. The previous key also signs for 24 hours."),
  rotate_secret: z.literal(true).optional().describe("Create a new key and show it in the answer. The previous key also signs for 24 hours."),
  events: Subscriptions.optional().describe("Which events are sent, in place of those before."),
  active: z.boolean().optional().describe("Whether events are sent from now on."),
}).refine(
  ({ secret, rotate_secret: rotate }) => secret === undefined || rotate === undefined, "secret and rotate_secret exclude each other",
);
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;

/** A webhook without its key: `secret_hint` is all that is shown of that. */
export const Webhook = z.object({
  id: Id.describe("The webhook's id."),
  url: z.string().describe("Where events are sent."),
  events: z.array(z.enum([ALL_EVENTS, ...WEBHOOK_EVENTS])).describe("Which events are sent: names, or `*` for every event."),
  active: z.boolean().describe("Whether events are sent now. The collector sets it to false after a 410, or after 3 days of failures."),
  status: z.enum(["healthy", "failing"])
    .describe("`failing` after the five attempts for an event failed. Each new event is then sent once, until one arrives."),
  created_at: Instant.describe("When it was created."),
  last_delivery_at: Instant.nullable().describe("When an event was last delivered. Null before the first."),
  secret_hint: z.string().describe("The last characters of the key, to distinguish keys."),
  previous_secret_until: Instant.nullable().describe("Until when the previous key also signs. Null where only one key signs."),
});
export type Webhook = z.infer<typeof Webhook>;

/** The answer when a webhook is created or its secret changes: `secret` only where this request created it, and never again. */
export const WebhookWithSecret = Webhook.extend({
  secret: z.string().optional().describe("The key, where this request created it. It is not shown again."),
});
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

const AttemptResult = z.object({
  attempt: z.int().min(0).describe("Number of the attempt, 1 to 5. 0 before the first."),
  requested_at: Instant.nullable().describe("When the attempt began. Null before the first."),
  status_code: z.int().nullable().describe("The receiver's HTTP status. Null where it did not answer."),
  response_time_ms: z.int().min(0).nullable()
    .describe("Milliseconds from the beginning of the attempt to its answer or its end. Null where nothing was sent."),
  error: z.string().nullable().describe("Why it failed: a code, a colon and a text. Null where the receiver answered 2xx."),
  response_excerpt: z.string().nullable().describe("The first 1024 bytes of the answer's body. Null where there is none."),
});

const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

/** The delivery of one event to one webhook. The attempt's fields are those of the last one; `attempts` lists all, the first one first. */
export const WebhookDelivery = AttemptResult.extend({
  id: Id.describe("The delivery's id."),
  event_id: Id.describe("The event's id. It is also the `webhook-id` header."),
  event: z.enum(WEBHOOK_EVENTS).describe("Which event is sent."),
  status: z.enum(DELIVERY_STATUSES).describe("`pending` while attempts are left, then `delivered` or `failed`."),
  created_at: Instant.describe("When it was queued."),
  next_attempt_at: Instant.nullable().describe("When the next attempt is. Null where there is none."),
  attempts: z.array(AttemptResult).describe("Every attempt, the first one first."),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;
/** One request of a delivery, and how it was answered. */
export type WebhookAttempt = z.infer<typeof AttemptResult>;

/** `search`: part of the URL. `event`: those that take this event. */
export const WebhooksQuery = IdPageQuery.extend({
  search: z.string().max(255).optional().describe("Part of the URL, in any case."),
  event: z.enum(WEBHOOK_EVENTS).optional().describe("Only webhooks that subscribe to this event."),
  active: BooleanQuery.optional().describe("Only webhooks that are active, or only those that are not."),
  status: z.enum(["healthy", "failing"]).optional().describe("Only webhooks in this state."),
});
export type WebhooksQuery = z.infer<typeof WebhooksQuery>;

/** Newest first. */
export const WebhookDeliveriesQuery = IdPageQuery.extend({
  status: z.enum(DELIVERY_STATUSES).optional().describe("Deliveries in this state."),
});
export type WebhookDeliveriesQuery = z.infer<typeof WebhookDeliveriesQuery>;

/** The event type of the test. Left out: the first that the webhook subscribes to. */
export const WebhookTest = z.strictObject({
  event: z.enum(WEBHOOK_EVENTS).optional().describe("The event type of the test. Left out: the first that the webhook subscribes to."),
});

/** Which events are to be delivered again, by when they were received: from `since` on and before `until`, or until now. */
export const WebhookReplay = z.strictObject({ 
  since: PeriodQuery.shape.since.unwrap()
    .describe("From when on: an ISO 8601 instant, or how long ago as `90s`, `15m`, `24h`, `7d`, `2w`."),
  until: PeriodQuery.shape.until,
});

/** Events are queued already when this is answered, and sent after it. */
export const WebhookReplayResult = z.object({
  queued: z.int().min(0).describe("How many events are queued for delivery."),
});

/** The length of the shorter of the two keys that a secret may stand for. */
function keyBytes(secret: string): number {
  const [, base64] = /^whsec_([\w+/]+)={0,2}$/.exec(secret) ?? [];
  return base64 === undefined ? new TextEncoder().encode(secret).length : Math.floor((base64.length * 3) / 4);
}
