import { CALLING_EVENTS, EVENT_TYPES, EVENTS, type EventType } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import type { Insertable, Selectable, Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { Reaction } from "../events/reaction.ts";
import { createCallLimit } from "./call-limit.ts";
import { typesOf, webhookEventOf } from "./sending/payload.ts";
import { activeWebhooks, addDeliveries } from "./reaction-store.ts";
import type { Lane } from "./store.ts";

/** Events that become webhook events. */
export type DeliveredType = { [T in EventType]: (typeof EVENTS)[T]["webhook"] extends null ? never : T }[EventType];

/** Enqueues events for the webhooks that are subscribed to them. Late ones that would call somebody are left out, and what is too much of one probe. */
export interface DeliveryReaction extends Reaction<DeliveredType> {
  /**
   * After the commit: the webhooks that got something since the last call. Some may be named in vain, after a transaction that
   * was undone.
   */
  takeEnqueued(tenantId: string): readonly string[];
}

interface Subscriptions {
  readonly revision: number;
  /** Event type → the webhooks that take it. */
  readonly byType: ReadonlyMap<string, readonly string[]>;
}

/** Subscriptions are read once for each revision of a tenant: a tenant without webhooks costs nothing, and one with them no query. */
export function createDeliveryReaction(): DeliveryReaction {
  const known = new Map<string, Subscriptions>();
  const enqueued = new Map<string, Set<string>>();
  const limit = createCallLimit();

  const subscriptionsOf = async (trx: Transaction<Schema>, tenantId: string, revision: number): Promise<Subscriptions> => {
    const before = known.get(tenantId);
    if (before?.revision === revision) return before;
    const byType = new Map<string, string[]>();
    for (const { id, events } of await activeWebhooks(trx, tenantId)) {
      for (const type of typesOf(events)) byType.set(type, [...(byType.get(type) ?? []), id]);
    }
    const found = { revision, byType };
    known.set(tenantId, found);
    return found;
  };

  return {
    types: EVENT_TYPES.filter((type): type is DeliveredType => webhookEventOf(type) !== null),
    async react(trx, { tenantId, webhooksRevision }, events) {
      if (webhooksRevision === 0) return;
      const { byType } = await subscriptionsOf(trx, tenantId, webhooksRevision);
      if (byType.size === 0) return;
      const deliveries = events.flatMap((one) => {
        const event = EVENTS[one.type].webhook;
        const takers = byType.get(one.type) ?? [];
        if (takers.length === 0 || one.isQuiet || (one.isLate && CALLING_EVENTS.has(event)) || !limit.take(one)) return [];
        return takers.map(
          (webhookId) => newDelivery(webhookId, { ...one, event }, { lane: "live", at: one.received_at }),
        );
      });
      if (deliveries.length === 0) return;
      await addDeliveries(trx, deliveries);
      const waiting = enqueued.get(tenantId) ?? new Set();
      for (const { webhook_id: id } of deliveries) waiting.add(id);
      enqueued.set(tenantId, waiting);
    },
    takeEnqueued(tenantId) {
      const ids = [...(enqueued.get(tenantId) ?? [])];
      enqueued.delete(tenantId);
      return ids;
    },
  };
}

/** A delivery before its first attempt. */
export function newDelivery(
  webhookId: string,
  event: Pick<Insertable<Schema["events"]>, "id" | "tenant_id" | "seq"> & { readonly event: string },
  { lane, at }: { readonly lane: Exclude<Lane, "retry">; readonly at: string },
): Selectable<Schema["webhook_deliveries"]> {
  return {
    webhook_id: webhookId, id: createId(), tenant_id: event.tenant_id, event_id: event.id, event: event.event, event_seq: event.seq, lane,
    status: "pending", attempt: 0, requested_at: null, status_code: null, response_time_ms: null, error: null, response_excerpt: null,
    attempts: "[]", created_at: at, retry_at: null,
  };
}
