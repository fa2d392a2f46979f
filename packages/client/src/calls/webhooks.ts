import {
  listEnvelope, Webhook, type WebhookCreate, WebhookDelivery, type WebhookEvent, type WebhookReplay, WebhookReplayResult,
  type WebhookUpdate, WebhookWithSecret,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const path = (id: string, rest = "") => `/api/v1/integrations/webhooks/${encodeURIComponent(id)}${rest}`;
const delivery = (id: string, deliveryId: string, rest = "") => path(id, `/deliveries/${encodeURIComponent(deliveryId)}${rest}`);

/** Webhooks and what became of their deliveries. */
export const webhookCalls = ({ call }: Transport) => ({
  listWebhooks: (query?: Query) => call("GET", "/api/v1/integrations/webhooks", listEnvelope(Webhook), { query }),
  /** @returns The webhook, with its secret where it was made here: it is shown this once. */
  createWebhook: (webhook: z.input<typeof WebhookCreate>) => call(
    "POST", "/api/v1/integrations/webhooks", WebhookWithSecret, { body: webhook },
  ),
  readWebhook: (id: string) => call("GET", path(id), Webhook),
  updateWebhook: (id: string, changes: WebhookUpdate) => call("PUT", path(id), WebhookWithSecret, { body: changes }),
  deleteWebhook: async (id: string): Promise<void> => void (await call("DELETE", path(id), z.unknown())),
  /** Sends a sample once and waits for the answer. */
  testWebhook: (id: string, event?: WebhookEvent) => call(
    "POST", path(id, "/test"), WebhookDelivery, { body: event === undefined ? {} : { event } },
  ),
  listDeliveries: (id: string, query?: Query) => call("GET", path(id, "/deliveries"), listEnvelope(WebhookDelivery), { query }),
  readDelivery: (id: string, deliveryId: string) => call("GET", delivery(id, deliveryId), WebhookDelivery),
  redeliver: (id: string, deliveryId: string) => call("POST", delivery(id, deliveryId, "/redeliver"), WebhookDelivery),
  replayWebhook: (id: string, period: z.input<typeof WebhookReplay>) => call(
    "POST", path(id, "/replay"), WebhookReplayResult, { body: period },
  ),
});
