import { type List, momentToInstant, type WebhookDeliveriesQuery, type WebhookDelivery } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { newDelivery } from "../../deliveries/reaction.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { toDelivery, type WebhookRow } from "./records.ts";
import type { Replay } from "./replay.ts";
import type { Actor } from "./store.ts";
import { type SampleDelivery, sampleDelivery, type SampleDependencies } from "./send-sample.ts";
import { requireWebhook, type Webhooks, webhooks, type WebhooksDependencies } from "./webhooks.ts";

/** Every method throws ApiError NOT_FOUND for a webhook or delivery that the tenant does not have. */
export interface DiplomatService extends Webhooks, SampleDelivery {
  deliveries(tenantId: string, webhookId: string, query: WebhookDeliveriesQuery): Promise<List<WebhookDelivery>>;
  delivery(tenantId: string, webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
  /**
   * @returns A new delivery of the same event. @throws ApiError CONFLICT while it is on its way, without its event, or for an
   * inactive webhook.
   */
  redeliver(actor: Actor, webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
  /**
   * @returns How many events were put on their way. @throws ApiError CONFLICT for an inactive webhook; BAD_REQUEST for too many
   * or a backward period.
   */
  replay(actor: Actor, webhookId: string, period: { readonly since: string; readonly until?: string | undefined }): Promise<number>;
}

const MAX_REPLAYED = 100_000;

/** A tenant has at most 100 webhooks. After a new secret the previous one signs too for 24 hours. A replay has at most 100,000 events. */
export function createDiplomatService(deps: WebhooksDependencies & SampleDependencies & { readonly replay: Replay }): DiplomatService {
  const { store, clock } = deps;
  const deliveryOf = async (tenantId: string, webhookId: string, deliveryId: string) => {
    const webhook = await requireWebhook(store, tenantId, webhookId);
    const row = await store.delivery(webhookId, deliveryId);
    if (!row) throw notFound("delivery");
    return { webhook, row };
  };
  const mustBeActive = ({ active }: WebhookRow) => {
    if (active !== 1) throw new ApiError("CONFLICT", "the webhook is not active: nothing is sent to it");
  };

  return {
    ...webhooks(deps), ...sampleDelivery(deps),

    async deliveries(tenantId, webhookId, query) {
      await requireWebhook(store, tenantId, webhookId);
      return pageById(query, {
        read: (rows) => store.deliveries(webhookId, query.status, rows), count: () => store.countDeliveries(webhookId, query.status),
        show: toDelivery,
      });
    },

    async delivery(tenantId, webhookId, deliveryId) {
      return toDelivery((await deliveryOf(tenantId, webhookId, deliveryId)).row);
    },

    async redeliver(actor, webhookId, deliveryId) {
      const { webhook, row } = await deliveryOf(actor.tenantId, webhookId, deliveryId);
      mustBeActive(webhook);
      if (row.lane !== null) throw new ApiError("CONFLICT", "the delivery is still in progress");
      if (!(await store.eventExists(actor.tenantId, row.event_seq))) throw new ApiError(
        "CONFLICT", "the event log does not have this event: it was a test, or is too old",
      );
      const event = { id: row.event_id, tenant_id: actor.tenantId, event: row.event, seq: row.event_seq };
      const again = newDelivery(webhookId, event, { lane: "replay", at: toInstant(clock.now()) });
      await store.addDelivery(actor, again);
      deps.changed(webhookId);
      return toDelivery(again);
    },

    async replay(actor, webhookId, { since, until }) {
      const webhook = await requireWebhook(store, actor.tenantId, webhookId);
      mustBeActive(webhook);
      const now = clock.now();
      const period = { since: momentToInstant(since, now), until: until === undefined ? toInstant(now + 1) : momentToInstant(until, now) };
      if (period.until < period.since) throw badRequest([{ path: ["until"], message: "before since" }]);
      const queued = await deps.replay.run(actor, webhook, period, MAX_REPLAYED);
      if (queued === null) throw badRequest([{ path: ["since"], message: `more than ${MAX_REPLAYED} events: choose a shorter period` }]);
      deps.changed(webhookId);
      return queued;
    },
  };
}
