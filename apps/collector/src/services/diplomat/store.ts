import { ALL_EVENTS } from "@lanthorn/contract";
import type { Expression, ExpressionBuilder, Insertable, Kysely, SqlBool, Transaction, Updateable } from "kysely";
import { holdsText } from "../../db/query/like.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import { cancelWaiting, subscriptionsChanged } from "../../deliveries/subscriptions-store.ts";
import type { Audit, AuditEntry } from "../../gateway/audit.ts";
import { type DeliveryRow, toWebhook, type WebhookRow } from "./records.ts";

/** Who is named in the audit record of a write. */
export type Actor = AuditEntry["actor"];

/** Where a list begins: so many rows in, or after a row's id. */
interface Page {
  readonly from: number | string;
  readonly limit: number;
}

/** Which of a tenant's webhooks a list shows. */
interface WebhooksFilter {
  readonly tenantId: string;
  /** Part of the URL. */
  readonly search?: string | undefined;
  readonly event?: string | undefined;
  readonly active?: boolean | undefined;
  readonly status?: string | undefined;
}

/** Webhooks and deliveries as people read and change them. Every write has its audit record in the same transaction. */
export interface DiplomatStore {
  /** In the order in which they were made. */
  list(filter: WebhooksFilter, page: Page): Promise<readonly WebhookRow[]>;
  count(filter: WebhooksFilter): Promise<number>;
  byId(tenantId: string, webhookId: string): Promise<WebhookRow | null>;
  /** @returns False, and nothing is made, when the tenant would have more than `most`. */
  create(actor: Actor, row: Insertable<Schema["webhooks"]>, most: number): Promise<boolean>;
  /** @param change What is to change, of the row as it is now. @returns The row as it is then; null when there is none. */
  update(actor: Actor, webhookId: string, change: (row: WebhookRow) => Updateable<Schema["webhooks"]>): Promise<WebhookRow | null>;
  /** @returns False when there is none. Its deliveries go bit by bit. */
  remove(actor: Actor, webhookId: string): Promise<boolean>;
  /** Newest first. */
  deliveries(webhookId: string, status: string | undefined, page: Page): Promise<readonly DeliveryRow[]>;
  countDeliveries(webhookId: string, status: string | undefined): Promise<number>;
  delivery(webhookId: string, deliveryId: string): Promise<DeliveryRow | null>;
  /** Keeps what a test came to; one that arrived makes its webhook healthy. */
  keepTest(actor: Actor, row: Insertable<Schema["webhook_deliveries"]>): Promise<void>;
  addDelivery(actor: Actor, row: Insertable<Schema["webhook_deliveries"]>): Promise<void>;
  eventExists(tenantId: string, seq: number): Promise<boolean>;
}

interface StoreDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly audit: Audit;
}

/** Deliveries are found by their webhook's id without a tenant: read the webhook by its tenant first. */
export function createDiplomatStore(deps: StoreDependencies): DiplomatStore {
  return { ...webhooksOf(deps), ...deliveriesOf(deps) };
}

type Webhooks = "list" | "count" | "byId" | "create" | "update" | "remove";

function webhooksOf({ db, reads, audit }: StoreDependencies): Pick<DiplomatStore, Webhooks> {
  const write = writerOf(audit);
  return {
    async list(filter, { from, limit }) {
      const query = reads.selectFrom("webhooks").selectAll().where((eb) => matches(eb, filter)).orderBy("id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute();
    },
    async count(filter) {
      return (await reads.selectFrom("webhooks").select((eb) => eb.fn.countAll<number>().as("total")).where((eb) => matches(eb, filter))
        .executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, webhookId) {
      const found = reads.selectFrom("webhooks").selectAll().where("tenant_id", "=", tenantId).where("id", "=", webhookId);
      return (await found.executeTakeFirst()) ?? null;
    },

    create: (actor, row, most) => db.transaction().execute(async (trx) => {
      // Locks the tenant's row, so that of two at once the second counts the first.
      await subscriptionsChanged(trx, row.tenant_id);
      if ((await countWebhooks(trx, row.tenant_id)) >= most) return false;
      const made = await trx.insertInto("webhooks").values(row).returningAll().executeTakeFirstOrThrow();
      await write(trx, actor, "create", row.id, null, toWebhook(made));
      return true;
    }),

    update: (actor, webhookId, change) => db.transaction().execute(async (trx) => {
      const query = trx.selectFrom("webhooks").selectAll().where("tenant_id", "=", actor.tenantId).where("id", "=", webhookId);
      const before = await (hasRowLocks(trx) ? query.forUpdate() : query).executeTakeFirst();
      if (!before) return null;
      const after = await trx.updateTable("webhooks").set(change(before)).where("id", "=", webhookId).returningAll()
        .executeTakeFirstOrThrow();
      await subscriptionsChanged(trx, actor.tenantId);
      if (before.active === 1 && after.active === 0) await cancelWaiting(trx, webhookId);
      await write(trx, actor, "update", webhookId, toWebhook(before), toWebhook(after));
      return after;
    }),

    remove: (actor, webhookId) => db.transaction().execute(async (trx) => {
      const row = await trx.deleteFrom("webhooks").where("tenant_id", "=", actor.tenantId).where("id", "=", webhookId).returningAll()
        .executeTakeFirst();
      if (!row) return false;
      await subscriptionsChanged(trx, actor.tenantId);
      await write(trx, actor, "delete", webhookId, toWebhook(row), null);
      return true;
    }),
  };
}

function deliveriesOf({ db, reads, audit }: StoreDependencies): Omit<DiplomatStore, Webhooks> {
  const write = writerOf(audit);
  return {
    async deliveries(webhookId, status, { from, limit }) {
      let query = reads.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", webhookId).orderBy("id", "desc").limit(limit);
      if (status !== undefined) query = query.where("status", "=", status);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    async countDeliveries(webhookId, status) {
      const query = reads.selectFrom("webhook_deliveries").select((eb) => eb.fn.countAll<number>().as("total"))
        .where("webhook_id", "=", webhookId);
      return (await (status === undefined ? query : query.where("status", "=", status)).executeTakeFirstOrThrow()).total;
    },
    async delivery(webhookId, deliveryId) {
      const found = reads.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", webhookId).where("id", "=", deliveryId);
      return (await found.executeTakeFirst()) ?? null;
    },

    keepTest: (actor, row) => db.transaction().execute(async (trx) => {
      await trx.insertInto("webhook_deliveries").values(row).execute();
      if (row.status === "delivered") {
        await trx.updateTable("webhooks").set({ status: "healthy", failing_since: null, last_delivery_at: row.requested_at ?? null })
          .where("id", "=", row.webhook_id).execute();
      }
      await write(trx, actor, "test", row.webhook_id, null, { event: row.event, status: row.status, status_code: row.status_code });
    }),
    addDelivery: (actor, row) => db.transaction().execute(async (trx) => {
      await trx.insertInto("webhook_deliveries").values(row).execute();
      await write(trx, actor, "redeliver", row.webhook_id, null, { delivery_id: row.id, event_id: row.event_id });
    }),
    async eventExists(tenantId, seq) {
      const found = reads.selectFrom("events").select("seq").where("tenant_id", "=", tenantId).where("seq", "=", seq);
      return (await found.executeTakeFirst()) !== undefined;
    },
  };
}

/** Writes what was done to a webhook into the audit log. */
function writerOf(audit: Audit) {
  return (trx: Transaction<Schema>, actor: Actor, action: string, webhookId: string, before: object | null, after: object | null) =>
    audit(trx, { actor, action: `webhook.${action}`, target: { type: "webhook", id: webhookId }, before, after });
}

function matches(eb: ExpressionBuilder<Schema, "webhooks">, { tenantId, search, event, active, status }: WebhooksFilter) {
  const all: Expression<SqlBool>[] = [eb("tenant_id", "=", tenantId)];
  if (search) all.push(holdsText(eb.ref("url"), search));
  // A JSON list of names without quotes in them: a name with its quotes stands nowhere else.
  if (event !== undefined) all.push(eb.or([event, ALL_EVENTS].map((name) => holdsText(eb.ref("events"), JSON.stringify(name)))));
  if (active !== undefined) all.push(eb("active", "=", active ? 1 : 0));
  if (status !== undefined) all.push(eb("status", "=", status));
  return eb.and(all);
}

async function countWebhooks(handle: Kysely<Schema>, tenantId: string): Promise<number> {
  const { total } = await handle.selectFrom("webhooks").select((eb) => eb.fn.countAll<number>().as("total"))
    .where("tenant_id", "=", tenantId).executeTakeFirstOrThrow();
  return total;
}
