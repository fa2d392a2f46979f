import { ALL_EVENTS, type Webhook, type WebhookDelivery, type WebhookEvent } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Attempt } from "../../deliveries/sending/attempt.ts";
import { toMessage } from "../../deliveries/sending/payload.ts";
import { secretsOf } from "../../deliveries/webhook-secrets.ts";
import { ApiError } from "../../gateway/errors.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { type DeliveryRow, toDelivery } from "./records.ts";
import { SAMPLE_EVENTS } from "./sample-events.ts";
import type { Actor, DiplomatStore } from "./store.ts";
import { requireWebhook } from "./webhooks.ts";

/** Trying an endpoint out. */
export interface SampleDelivery {
  /** Sends a sample once, active or not, and waits for the answer. */
  test(actor: Actor, webhookId: string, event: WebhookEvent | undefined): Promise<WebhookDelivery>;
}

/** What sending a sample needs. */
export interface SampleDependencies {
  readonly store: DiplomatStore;
  readonly sealing: Sealing;
  readonly attempt: Attempt;
  readonly clock: Pick<Clock, "now">;
  readonly changed: (webhookId: string) => void;
}

/** Sends samples to webhooks. */
export function sampleDelivery(deps: SampleDependencies): SampleDelivery {
  const { store, sealing, clock } = deps;
  return {
    async test(actor, webhookId, wanted) {
      const webhook = await requireWebhook(store, actor.tenantId, webhookId);
      const now = toInstant(clock.now());
      const [first] = JSON.parse(webhook.events) as Webhook["events"];
      const event = wanted ?? (first === undefined || first === ALL_EVENTS ? "alert.created" : first);
      const id = createId();
      const message = toMessage({
        id, tenant_id: actor.tenantId, event, occurred_at: now, site_id: null, probe_id: null, device_id: null,
        data: { ...SAMPLE_EVENTS[event], test: true },
      });
      const outcome = await deps.attempt({
        url: webhook.url, secrets: secretsOf(sealing, webhook, now), message, stop: new AbortController().signal,
      });
      if (!outcome) throw new ApiError("SERVICE_UNAVAILABLE", "the collector is stopping");
      const last = {
        attempt: 1, requested_at: outcome.requestedAt, status_code: outcome.statusCode, response_time_ms: outcome.responseTimeMs,
        error: outcome.error,
        response_excerpt: outcome.excerpt,
      };
      const row: DeliveryRow = {
        webhook_id: webhookId, id: createId(), tenant_id: actor.tenantId, event_id: id, event, event_seq: 0, lane: null,
        status: outcome.arrived ? "delivered" : "failed",
        ...last, attempts: JSON.stringify([last]), created_at: now, retry_at: null,
      };
      await store.keepTest(actor, row);
      deps.changed(webhookId);
      return toDelivery(row);
    },
  };
}
