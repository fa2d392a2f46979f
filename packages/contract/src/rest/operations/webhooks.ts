import * as z from "zod";
import { Id } from "../../values.ts";
import {
  Webhook, WebhookCreate, WebhookDeliveriesQuery, WebhookDelivery, WebhookReplay, WebhookReplayResult, WebhookTest, WebhookUpdate,
  WebhookWithSecret, WebhooksQuery,
} from "../webhooks.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfWebhook = z.object({ webhook_id: Id });
const OfDelivery = z.object({ webhook_id: Id, delivery_id: Id });

/** Webhooks and what was delivered. */
export const webhooksOperations = operations({
  listWebhooks: { target: "GET /integrations/webhooks", query: WebhooksQuery, status: 200, answer: listEnvelope(Webhook) },
  createWebhook: { target: "POST /integrations/webhooks", body: WebhookCreate, status: 201, answer: WebhookWithSecret },
  readWebhook: { target: "GET /integrations/webhooks/{webhook_id}", params: OfWebhook, status: 200, answer: Webhook },
  updateWebhook: {
    target: "PUT /integrations/webhooks/{webhook_id}", params: OfWebhook, body: WebhookUpdate, status: 200, answer: WebhookWithSecret,
  },
  deleteWebhook: { target: "DELETE /integrations/webhooks/{webhook_id}", params: OfWebhook, status: 204 },
  /** Answers with the delivery of a sample, and how it ended. */
  testWebhook: {
    target: "POST /integrations/webhooks/{webhook_id}/test", params: OfWebhook, body: WebhookTest, status: 200, answer: WebhookDelivery,
  },
  listWebhookDeliveries: {
    target: "GET /integrations/webhooks/{webhook_id}/deliveries", params: OfWebhook, query: WebhookDeliveriesQuery, status: 200,
    answer: listEnvelope(WebhookDelivery),
  },
  readWebhookDelivery: {
    target: "GET /integrations/webhooks/{webhook_id}/deliveries/{delivery_id}", params: OfDelivery, status: 200, answer: WebhookDelivery,
  },
  /** The same event as a new delivery. */
  redeliverWebhookDelivery: {
    target: "POST /integrations/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", params: OfDelivery, status: 202,
    answer: WebhookDelivery,
  },
  /** The events of a period once more, beside the new ones. */
  replayWebhookEvents: {
    target: "POST /integrations/webhooks/{webhook_id}/replay", params: OfWebhook, body: WebhookReplay, status: 202,
    answer: WebhookReplayResult,
  },
});
