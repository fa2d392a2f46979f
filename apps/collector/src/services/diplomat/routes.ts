import { z } from "@hono/zod-openapi";
import {
  Id, listEnvelope, Webhook, WebhookCreate, WebhookDeliveriesQuery, WebhookDelivery, WebhookReplay, WebhookReplayResult,
  WebhooksQuery, WebhookTest, WebhookUpdate, WebhookWithSecret,
} from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { DiplomatService } from "./service.ts";

const WEBHOOKS = "/integrations/webhooks";
const OfWebhook = z.object({ webhook_id: Id });
const OfDelivery = OfWebhook.extend({ delivery_id: Id });

const EXAMPLE: z.input<typeof WebhookCreate> = { url: "https://hooks.example.org/lanthorn", events: ["alert.created", "device.offline"] };

const list = declareRoute("webhooks:read", {
  method: "get",
  path: WEBHOOKS,
  operationId: "listWebhooks",
  summary: "List webhooks",
  request: { query: WebhooksQuery },
  responses: { 200: { description: "Webhooks in the order in which they were made", content: json(listEnvelope(Webhook)) } },
});

const create = declareRoute("webhooks:write", {
  method: "post",
  path: WEBHOOKS,
  "x-secret": "made",
  operationId: "createWebhook",
  summary: "Create a webhook",
  description: "Without `secret` one is made and answered, this once.",
  request: { body: jsonBody(WebhookCreate, EXAMPLE) },
  responses: { 201: { description: "The new webhook", content: json(WebhookWithSecret) } },
});

const read = declareRoute("webhooks:read", {
  method: "get",
  path: `${WEBHOOKS}/{webhook_id}`,
  operationId: "readWebhook",
  summary: "Read a webhook",
  request: { params: OfWebhook },
  responses: { 200: { description: "The webhook", content: json(Webhook) } },
});

const update = declareRoute("webhooks:write", {
  method: "put",
  path: `${WEBHOOKS}/{webhook_id}`,
  "x-secret": "shown",
  operationId: "updateWebhook",
  summary: "Change a webhook or rotate its secret",
  description: "Fields left out stay. A new secret, given or made with `rotate_secret`, signs at once; the old one signs too for 24 hours.",
  request: { params: OfWebhook, body: jsonBody(WebhookUpdate, { events: ["alert.created", "device.offline"], rotate_secret: true }) },
  responses: { 200: { description: "The webhook as it is now", content: json(WebhookWithSecret) } },
});

const remove = declareRoute("webhooks:write", {
  method: "delete",
  path: `${WEBHOOKS}/{webhook_id}`,
  operationId: "deleteWebhook",
  summary: "Delete a webhook",
  request: { params: OfWebhook },
  responses: { 204: { description: "Deleted, with all deliveries that are pending" } },
});

const test = declareRoute("webhooks:write", {
  method: "post",
  path: `${WEBHOOKS}/{webhook_id}/test`,
  operationId: "testWebhook",
  summary: "Send a test event",
  description: "Sends a sample with `data.test` true, once and at once, and answers with what came of it, for an inactive webhook too.",
  request: { params: OfWebhook, body: { ...jsonBody(WebhookTest, { event: "alert.created" }), required: false } },
  responses: { 200: { description: "The delivery and how it ended", content: json(WebhookDelivery) } },
});

const deliveries = declareRoute("webhooks:read", {
  method: "get",
  path: `${WEBHOOKS}/{webhook_id}/deliveries`,
  operationId: "listWebhookDeliveries",
  summary: "List a webhook's deliveries",
  request: { params: OfWebhook, query: WebhookDeliveriesQuery },
  responses: { 200: { description: "Deliveries with their attempts, newest first", content: json(listEnvelope(WebhookDelivery)) } },
});

const delivery = declareRoute("webhooks:read", {
  method: "get",
  path: `${WEBHOOKS}/{webhook_id}/deliveries/{delivery_id}`,
  operationId: "readWebhookDelivery",
  summary: "Read a delivery",
  request: { params: OfDelivery },
  responses: { 200: { description: "The delivery", content: json(WebhookDelivery) } },
});

const redeliver = declareRoute("webhooks:write", {
  method: "post",
  path: `${WEBHOOKS}/{webhook_id}/deliveries/{delivery_id}/redeliver`,
  operationId: "redeliverWebhookDelivery",
  summary: "Deliver an event again",
  description: "Makes a new delivery of the same event, with the same `webhook-id`.",
  request: { params: OfDelivery },
  responses: { 202: { description: "The new delivery", content: json(WebhookDelivery) } },
});

const replay = declareRoute("webhooks:write", {
  method: "post",
  path: `${WEBHOOKS}/{webhook_id}/replay`,
  operationId: "replayWebhookEvents",
  summary: "Deliver the events of a period again",
  description: "In order, beside new events: those that the webhook takes now, received from `since` on and before `until`.",
  request: { params: OfWebhook, body: jsonBody(WebhookReplay, { since: "24h", until: "1h" }) },
  responses: { 202: { description: "How many events are queued", content: json(WebhookReplayResult) } },
});

/** `/integrations/webhooks` and what is under it. */
export function diplomatRoutes(service: DiplomatService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(create, async (c) => {
    const webhook = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(webhook, 201, { location: `/api/v1${WEBHOOKS}/${webhook.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").webhook_id), 200));
  router.openapi(update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json")), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").webhook_id);
    return c.body(null, 204);
  });
  router.openapi(
    test, async (c) => c.json(await service.test(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json").event), 200),
  );
  router.openapi(deliveries, async (c) => c.json(
    toAnswer(await service.deliveries(identityOf(c).tenantId, c.req.valid("param").webhook_id, c.req.valid("query"))), 200,
  ));
  router.openapi(delivery, async (c) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    return c.json(await service.delivery(identityOf(c).tenantId, webhookId, deliveryId), 200);
  });
  router.openapi(redeliver, async (c) => {
    const { webhook_id: webhookId, delivery_id: deliveryId } = c.req.valid("param");
    const again = await service.redeliver(actorOf(c), webhookId, deliveryId);
    return c.json(again, 202, { location: `/api/v1${WEBHOOKS}/${webhookId}/deliveries/${again.id}` });
  });
  router.openapi(replay, async (c) => {
    const queued = await service.replay(actorOf(c), c.req.valid("param").webhook_id, c.req.valid("json"));
    return c.json({ queued }, 202);
  });
  return router;
}
