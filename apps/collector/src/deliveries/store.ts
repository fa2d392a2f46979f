import type { WebhookAttempt } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { CompiledQuery, type ExpressionBuilder, type Kysely, type Selectable, type Transaction } from "kysely";
import { hasRowLocks } from "../db/row-locks.ts";
import type { Schema } from "../db/schema.ts";
import { commitUnflushed } from "../db/query/unflushed.ts";
import { updateMany } from "../db/query/write-many.ts";
import type { AttemptOutcome } from "./sending/attempt.ts";
import { cancelWaiting, subscriptionsChanged } from "./subscriptions-store.ts";
import { type Settled, settle, type Standing } from "./worker/settle.ts";

/** The queues of a webhook: new events, retries, and what a person asked for again. */
export const LANES = ["live", "retry", "replay"] as const;
/** One queue of a webhook. Each is sent in its own order, so a retry holds up no new event. */
export type Lane = (typeof LANES)[number];

/** A webhook as stored; see `WebhookRow` of the diplomat's records. */
export type WebhookRow = Selectable<Schema["webhooks"]>;

type EventSource = Pick<Selectable<Schema["events"]>, "id" | "tenant_id" | "occurred_at" | "site_id" | "probe_id" | "device_id" | "data">;

/** A delivery that waits for its next attempt, with the event that it carries; `source` is null when the log has forgotten it. */
export interface WaitingDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly attempt: number;
  readonly attempts: string;
  readonly event: string;
  readonly source: EventSource | null;
}

/** An attempt that was made. */
export interface Made {
  readonly delivery: Pick<WaitingDelivery, "id" | "webhookId" | "attempt" | "attempts">;
  readonly outcome: AttemptOutcome;
}

/** Deliveries as the worker reads and settles them, across all tenants. Times are milliseconds since the epoch. */
export interface DeliveryStore {
  /** Every active webhook, with the lanes in which something is due. */
  due(now: number): Promise<readonly { readonly id: string; readonly workerId: string | null; readonly lanes: readonly Lane[] }[]>;
  webhook(webhookId: string): Promise<WebhookRow | null>;
  /** What is due in a lane: first attempts in the order of their events, retries of the oldest event first. */
  next(webhookId: string, lane: Lane, options: { readonly now: number; readonly limit: number }): Promise<readonly WaitingDelivery[]>;
  /**
   * Keeps the outcome of attempts and what follows from them, all or none. Where all arrived, it does not wait for the disk: a power
   * failure within a second has them delivered once more.
   * @returns The webhooks as they are now, without those that are deleted or not this worker's any more: of theirs nothing is kept.
   */
  record(workerId: string, made: readonly Made[], now: number): Promise<readonly WebhookRow[]>;
  /** After the clock was set: puts the waits of these webhooks off by as much, so that they last as long as they were to. */
  shift(webhookIds: readonly string[], byMs: number): Promise<void>;
  /** Retries whose last attempt lies in the future were scheduled by a clock that has been set back: they wait anew from now. */
  mend(webhookIds: readonly string[], now: number): Promise<void>;
}

const WAITING = [
  "d.id", "d.webhook_id", "d.attempt", "d.attempts", "d.event", "e.id as event_id", "e.tenant_id", "e.occurred_at", "e.site_id",
  "e.probe_id", "e.device_id", "e.data",
] as const;

type NextRow = Awaited<ReturnType<ReturnType<typeof nextQuery>["execute"]>>[number];

/** Each new event asks it of each webhook: building the query took longer than running it. */
function compileNext(reads: Kysely<Schema>, by: "lane" | "retry_at"): (webhookId: string, value: string, limit: number) => CompiledQuery {
  const { sql } = nextQuery(reads, by).compile();
  return (webhookId, value, limit) => CompiledQuery.raw(sql, [webhookId, value, limit]);
}

/** Its parameters, in their order: the webhook, the lane or the instant until which retries are due, and how many. */
function nextQuery(reads: Kysely<Schema>, by: "lane" | "retry_at") {
  return reads.selectFrom("webhook_deliveries as d")
    .leftJoin("events as e", (join) => join.onRef("e.tenant_id", "=", "d.tenant_id").onRef("e.seq", "=", "d.event_seq"))
    .select(WAITING).where("d.webhook_id", "=", "").where(`d.${by}`, by === "lane" ? "=" : "<=", "").orderBy("d.event_seq").limit(1);
}

/** `record` locks the webhooks that it changes in the order of their ids; the others read committed rows. */
export function createDeliveryStore(deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): DeliveryStore {
  const { db, reads } = deps;
  const dueIn = { live: compileNext(reads, "lane"), retry: compileNext(reads, "retry_at"), replay: compileNext(reads, "lane") };
  return {
    async due(now) {
      const rows = await reads.selectFrom("webhooks").select((eb) => [
        "id", "worker_id",
        eb.exists(inLane(eb, "live")).as("live"), eb.exists(inLane(eb, "replay")).as("replay"),
        eb.exists(waiting(eb).where("d.retry_at", "<=", toInstant(now))).as("retry"),
      ]).where("active", "=", 1).execute();
      return rows.map((row) => ({ id: row.id, workerId: row.worker_id, lanes: LANES.filter((lane) => Boolean(row[lane])) }));
    },

    async webhook(webhookId) {
      return (await reads.selectFrom("webhooks").selectAll().where("id", "=", webhookId).executeTakeFirst()) ?? null;
    },

    async next(webhookId, lane, { now, limit }) {
      const { rows } = await reads.executeQuery<NextRow>(dueIn[lane](webhookId, lane === "retry" ? toInstant(now) : lane, limit));
      return rows.map(({ webhook_id: id, event_id: eventId, ...row }) => ({
        id: row.id, webhookId: id, attempt: row.attempt, attempts: row.attempts, event: row.event,
        source: eventId === null ? null : { ...(row as Omit<EventSource, "id">), id: eventId },
      }));
    },

    record(workerId, made, now) {
      const keep = async (trx: Transaction<Schema>) => {
        const ids = [...new Set(made.map(({ delivery }) => delivery.webhookId))];
        const mine = trx.selectFrom("webhooks").selectAll().where("id", "in", ids).where("worker_id", "=", workerId).orderBy("id");
        // Locked: what a person changes meanwhile must not be overwritten by what was read before.
        const rows = await (hasRowLocks(trx) ? mine.forUpdate() : mine).execute();
        return recordAll(trx, rows.map((row) => ({ row, made: made.filter(({ delivery }) => delivery.webhookId === row.id) })), now);
      };
      // What arrived may arrive once more after a power failure; a notice and the count of failures must stay.
      return made.every(({ outcome }) => outcome.arrived) ? commitUnflushed(db, keep) : db.transaction().execute(keep);
    },

    async shift(webhookIds, byMs) {
      for (const id of webhookIds) {
        await db.transaction().execute(async (trx) => {
          const row = await trx.selectFrom("webhooks").select("failing_since").where("id", "=", id).executeTakeFirst();
          if (row?.failing_since) await trx.updateTable("webhooks").set({ failing_since: moved(row.failing_since, byMs) })
            .where("id", "=", id).execute();
          await moveRetries(trx, await retriesOf(trx, id), (retryAt) => moved(retryAt, byMs));
        });
      }
    },

    async mend(webhookIds, now) {
      for (const id of webhookIds) {
        await db.transaction().execute(async (trx) => {
          const early = (await retriesOf(trx, id)).filter(
            ({ requested_at: at }) => at !== null && Date.parse(at) > now + CLOCK_TOLERANCE_MS,
          );
          await moveRetries(trx, early, (retryAt, requestedAt) => toInstant(now + Date.parse(retryAt) - Date.parse(requestedAt)));
        });
      }
    },
  };
}

/** What clocks that are kept by NTP may differ by. */
const CLOCK_TOLERANCE_MS = 2000;

type Retry = Pick<Selectable<Schema["webhook_deliveries"]>, "webhook_id" | "id" | "retry_at" | "requested_at">;

function retriesOf(trx: Transaction<Schema>, webhookId: string): Promise<readonly Retry[]> {
  return trx.selectFrom("webhook_deliveries").select(["webhook_id", "id", "retry_at", "requested_at"])
    .where("webhook_id", "=", webhookId).where("retry_at", "is not", null).execute();
}

async function moveRetries(
  trx: Transaction<Schema>,
  retries: readonly Retry[],
  move: (retryAt: string, requestedAt: string) => string,
): Promise<void> {
  for (const { webhook_id: webhookId, id, retry_at: retryAt, requested_at: requestedAt } of retries) {
    await trx.updateTable("webhook_deliveries").set({ retry_at: move(retryAt ?? "", requestedAt ?? "") })
      .where("webhook_id", "=", webhookId).where("id", "=", id).execute();
  }
}

function moved(instant: string, byMs: number): string {
  return toInstant(Date.parse(instant) + byMs);
}

function waiting(eb: ExpressionBuilder<Schema, "webhooks">) {
  return eb.selectFrom("webhook_deliveries as d").select("d.id").whereRef("d.webhook_id", "=", "webhooks.id");
}

function inLane(eb: ExpressionBuilder<Schema, "webhooks">, lane: Lane) {
  return waiting(eb).where("d.lane", "=", lane);
}

/** Keeps what came of attempts, of all webhooks by one statement for each table. */
async function recordAll(
  trx: Transaction<Schema>, all: readonly { readonly row: WebhookRow; readonly made: readonly Made[] }[], now: number,
): Promise<readonly WebhookRow[]> {
  // A delivery that was asked for again while its retry was under way is made twice: the later counts.
  const attempts = new Map<string, ReturnType<typeof attemptRow>>();
  const results = all.map(({ row, made }) => settleAll(row, made, now));
  for (const { settled } of results) for (const one of settled) attempts.set(one.made.delivery.id, attemptRow(one));
  await updateMany(trx, "webhook_deliveries", [...attempts.values()], ["webhook_id", "id"]);
  await updateMany(trx, "webhooks", results.map(({ row, changed }) => ({ id: row.id, ...changed })));
  for (const { row, changed, settled } of results) {
    for (const { made, result } of settled) if (result.notice !== null) await announce(trx, row, result.notice, made.outcome, now);
    if (row.active !== 1 || changed.active === 1) continue;
    await subscriptionsChanged(trx, row.tenant_id);
    await cancelWaiting(trx, row.id);
  }
  return results.map(({ row, changed }) => ({ ...row, ...changed }));
}

interface SettledAttempt {
  readonly made: Made;
  readonly result: Settled;
}

/** What follows from a webhook's attempts, in their order. */
function settleAll(row: WebhookRow, made: readonly Made[], now: number) {
  let standing: Standing = { active: row.active === 1, status: row.status as Standing["status"], failingSince: row.failing_since };
  const settled: SettledAttempt[] = [];
  for (const one of made) {
    const result = settle(standing, one.delivery.attempt + 1, one.outcome, now);
    settled.push({ made: one, result });
    standing = result.standing;
  }
  const changed = {
    active: standing.active ? 1 : 0, status: standing.status, failing_since: standing.failingSince,
    last_delivery_at: made.findLast(({ outcome }) => outcome.arrived)?.outcome.requestedAt ?? row.last_delivery_at,
  };
  return { row, settled, changed };
}

/** A delivery's columns after an attempt. */
function attemptRow({ made: { delivery, outcome }, result: { status, retryAt } }: SettledAttempt) {
  const last: WebhookAttempt = {
    attempt: delivery.attempt + 1, requested_at: outcome.requestedAt, status_code: outcome.statusCode,
    response_time_ms: outcome.responseTimeMs,
    error: outcome.error, response_excerpt: outcome.excerpt,
  };
  return {
    webhook_id: delivery.webhookId, id: delivery.id, ...last, status, lane: status === "pending" ? ("retry" satisfies Lane) : null,
    retry_at: retryAt, attempts: JSON.stringify([...(JSON.parse(delivery.attempts) as WebhookAttempt[]), last]),
  };
}

async function announce(
  trx: Transaction<Schema>,
  row: WebhookRow,
  kind: NonNullable<Settled["notice"]>,
  outcome: AttemptOutcome,
  now: number,
): Promise<void> {
  const at = toInstant(now);
  await trx.insertInto("webhook_notices").values({
    id: createId(), tenant_id: row.tenant_id, webhook_id: row.id, kind, detail: outcome.error ?? "", status: "pending", attempt: 0,
    next_attempt_at: at, error: null, created_at: at,
  }).execute();
}
