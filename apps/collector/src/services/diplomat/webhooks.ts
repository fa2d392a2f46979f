import type { List, Webhook, WebhookCreate, WebhooksQuery, WebhookUpdate, WebhookWithSecret } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { addressesOf } from "../../deliveries/sending/attempt.ts";
import type { ResolveHost } from "../../deliveries/sending/resolve.ts";
import type { TargetPolicy } from "../../deliveries/sending/target-policy.ts";
import { createSecret, sealSecret } from "../../deliveries/webhook-secrets.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { toWebhook, type WebhookRow } from "./records.ts";
import type { Actor, DiplomatStore } from "./store.ts";

/** The tenant's endpoints. */
export interface Webhooks {
  list(tenantId: string, query: WebhooksQuery): Promise<List<Webhook>>;
  read(tenantId: string, webhookId: string): Promise<Webhook>;
  /** @throws ApiError BAD_REQUEST for a URL that this deployment does not send to; CONFLICT when the tenant has too many. */
  create(actor: Actor, webhook: WebhookCreate): Promise<WebhookWithSecret>;
  /** A new URL, or being made active, makes it healthy: it has not failed yet as it is now. @throws ApiError BAD_REQUEST as `create`. */
  update(actor: Actor, webhookId: string, change: WebhookUpdate): Promise<WebhookWithSecret>;
  remove(actor: Actor, webhookId: string): Promise<void>;
}

/** What managing endpoints needs. */
export interface WebhooksDependencies {
  readonly store: DiplomatStore;
  readonly sealing: Sealing;
  readonly policy: TargetPolicy;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  /** Called after a webhook was changed, or something of it asked for again. */
  readonly changed: (webhookId: string) => void;
}

const MAX_WEBHOOKS = 100;
const ROTATION_MS = 24 * 3_600_000;
const RESOLVE_MS = 3000;

/** Lists, creates, changes and removes webhooks. */
export function webhooks(deps: WebhooksDependencies): Webhooks {
  const { store, sealing, clock } = deps;
  return {
    list: (tenantId, { search, event, active, status, ...page }) => {
      const filter = { tenantId, search, event, active, status };
      return pageById(page, { read: (rows) => store.list(filter, rows), count: () => store.count(filter), show: toWebhook });
    },

    async read(tenantId, webhookId) {
      return toWebhook(await requireWebhook(store, tenantId, webhookId));
    },

    async create(actor, { url, secret, events, active }) {
      await checkUrl(url, deps);
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
      if (change.url !== undefined) await checkUrl(change.url, deps);
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
  };
}

/** One of the tenant's webhooks. @throws ApiError NOT_FOUND. */
export async function requireWebhook(store: Pick<DiplomatStore, "byId">, tenantId: string, webhookId: string): Promise<WebhookRow> {
  const row = await store.byId(tenantId, webhookId);
  if (!row) throw notFound("webhook");
  return row;
}

/** @throws ApiError BAD_REQUEST for a URL that this deployment does not send to. */
async function checkUrl(url: string, { policy, resolve, clock }: WebhooksDependencies): Promise<void> {
  const refuse = (why: string) => badRequest([{ path: ["url"], message: `the URL ${why}` }]);
  const target = policy.parse(url);
  if (typeof target === "string") throw refuse(target);
  const found = await addressesOf(target, { resolve, clock, timeLimitMs: RESOLVE_MS });
  if (typeof found === "string") {
    // A name may come to be later, and is judged at each attempt; only whether http is allowed must be known now.
    if (target.url.protocol === "http:") throw refuse("cannot be resolved, and http is for hosts that webhooks.allow names");
    return;
  }
  const checked = policy.check(target, found);
  if (typeof checked === "string") throw refuse(checked);
}

/** A receiver at another URL, or one that is sent to again, has not failed yet. */
function isNewStart(before: WebhookRow, { url, active }: WebhookUpdate): boolean {
  return (url !== undefined && url !== before.url) || (active === true && before.active === 0);
}
