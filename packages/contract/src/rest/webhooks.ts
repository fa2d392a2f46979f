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

export const WebhookCreate = z.strictObject({
  url: WebhookUrl,
  /** Left out, one is made and shown in the answer, once. */
  secret: SigningSecret.optional(),
  events: Subscriptions,
  active: z.boolean().default(true),
});
export type WebhookCreate = z.infer<typeof WebhookCreate>;

/** Fields left out stay. `secret` sets a new one, `rotate_secret` makes one; the old one signs too for 24 hours. */
export const WebhookUpdate = z.strictObject({
  url: WebhookUrl.optional(),
  secret: SigningSecret.optional(),
  rotate_secret: z.literal(true).optional(),
  events: Subscriptions.optional(),
  active: z.boolean().optional(),
}).refine(
  ({ secret, rotate_secret: rotate }) => secret === undefined || rotate === undefined, "secret and rotate_secret exclude each other",
);
export type WebhookUpdate = z.infer<typeof WebhookUpdate>;

export const Webhook = z.object({
  id: Id,
  url: z.string(),
  events: z.array(z.enum([ALL_EVENTS, ...WEBHOOK_EVENTS])),
  active: z.boolean(),
  /** `failing` after an event's five attempts failed: each new event is then sent once, until one arrives. */
  status: z.enum(["healthy", "failing"]),
  created_at: Instant,
  last_delivery_at: Instant.nullable(),
  /** The secret's last characters, to tell one from another. */
  secret_hint: z.string(),
  /** Until then the previous secret signs too. */
  previous_secret_until: Instant.nullable(),
});
export type Webhook = z.infer<typeof Webhook>;

/** A webhook as it is answered when it is made or its secret changed: `secret` only when it was made here, and never again. */
export const WebhookWithSecret = Webhook.extend({ secret: z.string().optional() });
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

const AttemptResult = z.object({
  /** 1 to 5; 0 before the first. */
  attempt: z.int().min(0),
  /** When the attempt began. */
  requested_at: Instant.nullable(),
  status_code: z.int().nullable(),
  /** From the beginning of the attempt to the answer's head, or until it was given up. Null where nothing was sent. */
  response_time_ms: z.int().min(0).nullable(),
  /** Null when the receiver answered 2xx; else a code, and words after a colon. */
  error: z.string().nullable(),
  /** The first KiB of the answer's body. */
  response_excerpt: z.string().nullable(),
});

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

/** One event on its way to one webhook. The fields of an attempt are those of the last; `attempts` has each, the first first. */
export const WebhookDelivery = AttemptResult.extend({
  id: Id,
  event_id: Id,
  event: z.enum(WEBHOOK_EVENTS),
  status: z.enum(DELIVERY_STATUSES),
  created_at: Instant,
  /** Null when there is no further attempt. */
  next_attempt_at: Instant.nullable(),
  attempts: z.array(AttemptResult),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;
export type WebhookAttempt = z.infer<typeof AttemptResult>;

/** `search`: part of the URL. `event`: those that take this event. */
export const WebhooksQuery = IdPageQuery.extend({
  search: z.string().max(255).optional().describe("Part of the URL, in any case."),
  event: z.enum(WEBHOOK_EVENTS).optional().describe("Only webhooks that take this event."),
  active: BooleanQuery.optional().describe("Only webhooks that are active, or only those that are not."),
  status: z.enum(["healthy", "failing"]).optional().describe("Only webhooks in this state."),
});
export type WebhooksQuery = z.infer<typeof WebhooksQuery>;

/** Newest first. */
export const WebhookDeliveriesQuery = IdPageQuery.extend({ status: z.enum(DELIVERY_STATUSES).optional() });
export type WebhookDeliveriesQuery = z.infer<typeof WebhookDeliveriesQuery>;

/** Which event the test is to look like; the first that the webhook is subscribed to where it is left out. */
export const WebhookTest = z.strictObject({ event: z.enum(WEBHOOK_EVENTS).optional() });

/** Which events are to be delivered again, by when they were received: from `since` on and before `until`, or until now. */
export const WebhookReplay = z.strictObject({ since: PeriodQuery.shape.since.unwrap(), until: PeriodQuery.shape.until });

export const WebhookReplayResult = z.object({ queued: z.int().min(0) });

/** The length of the shorter of the two keys that a secret may stand for. */
function keyBytes(secret: string): number {
  const [, base64] = /^whsec_([\w+/]+)={0,2}$/.exec(secret) ?? [];
  return base64 === undefined ? new TextEncoder().encode(secret).length : Math.floor((base64.length * 3) / 4);
}
