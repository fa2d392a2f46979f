import { z } from "@hono/zod-openapi";
import {
  Id, listEnvelope, Webhook, WebhookCreate, WebhookDeliveriesQuery, WebhookDelivery, WebhookReplay, WebhookReplayResult,
  WebhooksQuery, WebhookTest, WebhookUpdate, WebhookWithSecret,
} from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { DiplomatService } from "./service.ts";

const WEBHOOKS = "/integrations/webhooks";
const OfWebhook = z.object({ webhook_id: Id });
const OfDelivery = OfWebhook.extend({ delivery_id: Id });

const EXAMPLE: z.input<typeof WebhookCreate> = { url: "https://hooks.example.org/lanthorn", events: ["alert.created", "device.offline"] };

const { endpoint, routes } = endpointsOf<DiplomatService>();

/** `/integrations/webhooks` and what is under it. */
export const diplomatRoutes = routes(
  endpoint("webhooks:read", `GET ${WEBHOOKS}`, {
    operationId: "listWebhooks", summary: "List webhooks", query: WebhooksQuery,
    answer: [200, "Webhooks in the order in which they were made", listEnvelope(Webhook)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("webhooks:write", `POST ${WEBHOOKS}`, {
    "x-secret": "made", operationId: "createWebhook", summary: "Create a webhook",
    description: "Without `secret` one is created and shown only in this answer.", body: jsonBody(WebhookCreate, EXAMPLE),
    answer: [201, "The new webhook", WebhookWithSecret],
  }, async (c, service) => {
    const webhook = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(webhook, 201, { location: `/api/v1${WEBHOOKS}/${webhook.id}` });
  }),
  endpoint("webhooks:read", `GET ${WEBHOOKS}/{webhook_id}`, {
    operationId: "readWebhook", summary: "Read a webhook", params: OfWebhook, answer: [200, "The webhook", Webhook],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").webhook_id), 200)),
  endpoint("webhooks:write", `PUT ${WEBHOOKS}/{webhook_id}`, {
    "x-secret": "shown", operationId: "updateWebhook", summary: "Change a webhook or rotate its secret",
    description: "Fields left out stay. A new secret, given or made with `rotate_secret`, signs at once; the old one also signs for 24 hours.",
    params: OfWebhook, body: jsonBody(WebhookUpdate, { events: ["alert.created", "device.offline"], rotate_secret: true }),
    answer: [200, "The webhook as it is now", WebhookWithSecret],
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json")), 200)),
  endpoint("webhooks:write", `DELETE ${WEBHOOKS}/{webhook_id}`, {
    operationId: "deleteWebhook", summary: "Delete a webhook", params: OfWebhook,
    answer: [204, "Deleted, with all deliveries that are pending"],
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").webhook_id);
    return c.body(null, 204);
  }),
  endpoint("webhooks:write", `POST ${WEBHOOKS}/{webhook_id}/test`, {
    operationId: "testWebhook", summary: "Send a test event",
    description: "Sends a sample with `data.test` true, once and at once, also to an inactive webhook, and answers with the result.",
    params: OfWebhook, body: { ...jsonBody(WebhookTest, { event: "alert.created" }), required: false },
    answer: [200, "The delivery and how it ended", WebhookDelivery],
  }, async (c, service) => c.json(await service.test(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json").event), 200)),
  endpoint("webhooks:read", `GET ${WEBHOOKS}/{webhook_id}/deliveries`, {
    operationId: "listWebhookDeliveries", summary: "List a webhook's deliveries", params: OfWebhook, query: WebhookDeliveriesQuery,
    answer: [200, "Deliveries with their attempts, newest first", listEnvelope(WebhookDelivery)],
  }, async (c, service) => c.json(
    toAnswer(await service.deliveries(identityOf(c).tenantId, c.req.valid("param").webhook_id, c.req.valid("query"))), 200,
  )),
  endpoint("webhooks:read", `GET ${WEBHOOKS}/{webhook_id}/deliveries/{delivery_id}`, {
    operationId: "readWebhookDelivery", summary: "Read a delivery", params: OfDelivery, answer: [200, "The delivery", WebhookDelivery],
  }, async (c, service) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    return c.json(await service.delivery(identityOf(c).tenantId, webhookId, deliveryId), 200);
  }),
  endpoint("webhooks:write", `POST ${WEBHOOKS}/{webhook_id}/deliveries/{delivery_id}/redeliver`, {
    operationId: "redeliverWebhookDelivery", summary: "Deliver an event again",
    description: "Makes a new delivery of the same event, with the same `webhook-id`.", params: OfDelivery,
    answer: [202, "The new delivery", WebhookDelivery],
  }, async (c, service) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    const again = await service.redeliver(actorOf(c), webhookId, deliveryId);
    return c.json(again, 202, { location: `/api/v1${WEBHOOKS}/${webhookId}/deliveries/${again.id}` });
  }),
  endpoint("webhooks:write", `POST ${WEBHOOKS}/{webhook_id}/replay`, {
    operationId: "replayWebhookEvents", summary: "Deliver the events of a period again",
    description: "In order, beside new events: those that the webhook now subscribes to, received from `since` on and before `until`.",
    params: OfWebhook, body: jsonBody(WebhookReplay, { since: "24h", until: "1h" }),
    answer: [202, "How many events are queued", WebhookReplayResult],
  }, async (c, service) => {
    const queued = await service.replay(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json"));
    return c.json({ queued }, 202);
  }),
);
