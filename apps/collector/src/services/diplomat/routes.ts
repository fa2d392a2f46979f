import type { z } from "@hono/zod-openapi";
import type { WebhookCreate} from "@lanthorn/contract";
import { webhooksOperations, WebhookTest } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { DiplomatService } from "./service.ts";

const WEBHOOKS = "/integrations/webhooks";

const EXAMPLE: z.input<typeof WebhookCreate> = { url: "https://hooks.example.org/lanthorn", events: ["alert.created", "device.offline"] };

const { endpoint, routes } = endpointsOf<DiplomatService>();

/** `/integrations/webhooks` and what is under it. */
export const diplomatRoutes = routes(
  endpoint("webhooks:read", webhooksOperations.listWebhooks, {
    summary: "List webhooks", answer: "Webhooks in the order in which they were made",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("webhooks:write", webhooksOperations.createWebhook, {
    "x-secret": "made", summary: "Create a webhook", description: "Without `secret` one is created and shown only in this answer.",
    example: EXAMPLE, answer: "The new webhook",
  }, async (c, service) => {
    const webhook = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(webhook, 201, { location: `/api/v1${WEBHOOKS}/${webhook.id}` });
  }),
  endpoint("webhooks:read", webhooksOperations.readWebhook, {
    summary: "Read a webhook", answer: "The webhook",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").webhook_id), 200)),
  endpoint("webhooks:write", webhooksOperations.updateWebhook, {
    "x-secret": "shown", summary: "Change a webhook or rotate its secret",
    description: "Fields left out stay. A new secret, given or made with `rotate_secret`, signs at once; the old one also signs for 24 hours.",
    example: { events: ["alert.created", "device.offline"], rotate_secret: true }, answer: "The webhook as it is now",
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json")), 200)),
  endpoint("webhooks:write", webhooksOperations.deleteWebhook, {
    summary: "Delete a webhook", answer: "Deleted, with all deliveries that are pending",
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").webhook_id);
    return c.body(null, 204);
  }),
  endpoint("webhooks:write", webhooksOperations.testWebhook, {
    summary: "Send a test event",
    description: "Sends a sample with `data.test` true, once and at once, also to an inactive webhook, and answers with the result.",
    body: { ...jsonBody(WebhookTest, { event: "alert.created" }), required: false }, answer: "The delivery and how it ended",
  }, async (c, service) => c.json(await service.test(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json").event), 200)),
  endpoint("webhooks:read", webhooksOperations.listWebhookDeliveries, {
    summary: "List a webhook's deliveries", answer: "Deliveries with their attempts, newest first",
  }, async (c, service) => c.json(
    toAnswer(await service.deliveries(identityOf(c).tenantId, c.req.valid("param").webhook_id, c.req.valid("query"))), 200,
  )),
  endpoint("webhooks:read", webhooksOperations.readWebhookDelivery, {
    summary: "Read a delivery", answer: "The delivery",
  }, async (c, service) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    return c.json(await service.delivery(identityOf(c).tenantId, webhookId, deliveryId), 200);
  }),
  endpoint("webhooks:write", webhooksOperations.redeliverWebhookDelivery, {
    summary: "Deliver an event again", description: "Makes a new delivery of the same event, with the same `webhook-id`.",
    answer: "The new delivery",
  }, async (c, service) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    const again = await service.redeliver(actorOf(c), webhookId, deliveryId);
    return c.json(again, 202, { location: `/api/v1${WEBHOOKS}/${webhookId}/deliveries/${again.id}` });
  }),
  endpoint("webhooks:write", webhooksOperations.replayWebhookEvents, {
    summary: "Deliver the events of a period again",
    description: "In order, beside new events: those that the webhook now subscribes to, received from `since` on and before `until`.",
    example: { since: "24h", until: "1h" }, answer: "How many events are queued",
  }, async (c, service) => {
    const queued = await service.replay(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json"));
    return c.json({ queued }, 202);
  }),
);
