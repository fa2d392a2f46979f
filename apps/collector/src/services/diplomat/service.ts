import {
  ALL_EVENTS, type List, momentToInstant, type Webhook, type WebhookCreate, type WebhookDeliveriesQuery, type WebhookDelivery, type WebhookEvent,
  type WebhooksQuery, type WebhookUpdate, type WebhookWithSecret,
} from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { addressesOf, type Attempt } from "../../deliveries/attempt.ts";
import { newDelivery } from "../../deliveries/reaction.ts";
import { toMessage } from "../../deliveries/payload.ts";
import type { ResolveHost } from "../../deliveries/resolve.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { TargetPolicy } from "../../deliveries/target-policy.ts";
import { createSecret, sealSecret, secretsOf } from "../../deliveries/webhook-secrets.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { type DeliveryRow, toDelivery, toWebhook, type WebhookRow } from "./records.ts";
import type { Replay } from "./replay.ts";
import { SAMPLE_EVENTS } from "./sample-events.ts";
import type { Actor, DiplomatStore } from "./store.ts";

/** Every method throws ApiError NOT_FOUND for a webhook or delivery that the tenant does not have. */
export interface DiplomatService {
  list(tenantId: string, query: WebhooksQuery): Promise<List<Webhook>>;
  read(tenantId: string, webhookId: string): Promise<Webhook>;
  /** @throws ApiError BAD_REQUEST for a URL that this deployment does not send to; CONFLICT when the tenant has too many. */
  create(actor: Actor, webhook: WebhookCreate): Promise<WebhookWithSecret>;
  /** A new URL, or being made active, makes it healthy: it has not failed yet as it is now. @throws ApiError BAD_REQUEST as `create`. */
  update(actor: Actor, webhookId: string, change: WebhookUpdate): Promise<WebhookWithSecret>;
  remove(actor: Actor, webhookId: string): Promise<void>;
  /** Sends a sample once, active or not, and waits for the answer. */
  test(actor: Actor, webhookId: string, event: WebhookEvent | undefined): Promise<WebhookDelivery>;
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

const MAX_WEBHOOKS = 100;
const MAX_REPLAYED = 100_000;
const ROTATION_MS = 24 * 3_600_000;
const RESOLVE_MS = 3000;

export function createDiplomatService(deps: {
  readonly store: DiplomatStore;
  readonly replay: Replay;
  readonly sealing: Sealing;
  readonly policy: TargetPolicy;
  readonly resolve: ResolveHost;
  readonly attempt: Attempt;
  readonly clock: Clock;
  /** Called after a webhook was changed, or something of it asked for again. */
  readonly changed: (webhookId: string) => void;
}): DiplomatService {
  const { store, sealing, clock } = deps;

  const checkUrl = async (url: string) => {
    const refuse = (why: string) => badRequest([{ path: ["url"], message: `the URL ${why}` }]);
    const target = deps.policy.parse(url);
    if (typeof target === "string") throw refuse(target);
    const found = await addressesOf(target, { resolve: deps.resolve, clock, timeLimitMs: RESOLVE_MS });
    if (typeof found === "string") {
      // A name may come to be later, and is judged at each attempt; only whether http is allowed must be known now.
      if (target.url.protocol === "http:") throw refuse("cannot be resolved, and http is for hosts that webhooks.allow names");
      return;
    }
    const checked = deps.policy.check(target, found);
    if (typeof checked === "string") throw refuse(checked);
  };
  const webhookOf = async (tenantId: string, webhookId: string): Promise<WebhookRow> => {
    const row = await store.byId(tenantId, webhookId);
    if (!row) throw notFound("webhook");
    return row;
  };
  const deliveryOf = async (tenantId: string, webhookId: string, deliveryId: string) => {
    const webhook = await webhookOf(tenantId, webhookId);
    const row = await store.delivery(webhookId, deliveryId);
    if (!row) throw notFound("delivery");
    return { webhook, row };
  };
  const mustBeActive = ({ active }: WebhookRow) => {
    if (active !== 1) throw new ApiError("CONFLICT", "the webhook is not active: nothing is sent to it");
  };

  return {
    list: (tenantId, { search, event, active, status, ...page }) => {
      const filter = { tenantId, search, event, active, status };
      return pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: toWebhook });
    },
    async read(tenantId, webhookId) {
      return toWebhook(await webhookOf(tenantId, webhookId));
    },

    async create(actor, { url, secret, events, active }) {
      await checkUrl(url);
      const id = createId();
      const made = secret === undefined ? createSecret() : undefined;
      const row: WebhookRow = {
        id, tenant_id: actor.tenantId, url, events: JSON.stringify(events), active: active ? 1 : 0, status: "healthy", failing_since: null,
        ...sealSecret(sealing, id, secret ?? made ?? ""), previous_secret_sealed: null, previous_secret_until: null,
        created_at: toInstant(clock.now()), last_delivery_at: null, worker_id: null,
      };
      if (!(await store.create(actor, row, MAX_WEBHOOKS))) {
        throw new ApiError(
          "CONFLICT", `there are ${MAX_WEBHOOKS} webhooks, the maximum: delete one first`, { details: { limit: MAX_WEBHOOKS } },
        );
      }
      return { ...toWebhook(row), ...(made !== undefined && { secret: made }) };
    },

    async update(actor, webhookId, change) {
      if (change.url !== undefined) await checkUrl(change.url);
      const made = change.rotate_secret ? createSecret() : undefined;
      const secret = change.secret ?? made;
      const row = await store.update(actor, webhookId, (before) => ({
        url: change.url ?? before.url,
        ...(change.events && { events: JSON.stringify(change.events) }),
        ...(change.active !== undefined && { active: change.active ? 1 : 0 }),
        ...(isNewStart(before, change) && { status: "healthy", failing_since: null }),
        ...(secret !== undefined && {
          ...sealSecret(sealing, webhookId, secret), previous_secret_sealed: before.secret_sealed,
          previous_secret_until: toInstant(clock.now() + ROTATION_MS),
        }),
      }));
      if (!row) throw notFound("webhook");
      deps.changed(webhookId);
      return { ...toWebhook(row), ...(made !== undefined && { secret: made }) };
    },

    async remove(actor, webhookId) {
      if (!(await store.remove(actor, webhookId))) throw notFound("webhook");
      deps.changed(webhookId);
    },

    async test(actor, webhookId, wanted) {
      const webhook = await webhookOf(actor.tenantId, webhookId);
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

    async deliveries(tenantId, webhookId, query) {
      await webhookOf(tenantId, webhookId);
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
      const webhook = await webhookOf(actor.tenantId, webhookId);
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

/** A receiver at another URL, or one that is sent to again, has not failed yet. */
function isNewStart(before: WebhookRow, { url, active }: WebhookUpdate): boolean {
  return (url !== undefined && url !== before.url) || (active === true && before.active === 0);
}
