import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";

const RUN_EVERY_MS = 10 * 60_000;
/** In one transaction: some milliseconds, in which ingest waits. */
const CHUNK_ROWS = 500;
const DAY_MS = 86_400_000;

/**
 * Forgets deliveries of deleted webhooks, those that are done and older than `keepDays`, and of each webhook what is beyond
 * the newest `keepEach`; what still waits there has failed first, so that a receiver that is dead for days fills no disk.
 */
export function createDeliverySweep(
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly log: Log },
  options: { readonly keepDays: number; readonly keepEach: number },
): Job<number> {
  const { db, reads, clock } = deps;
  /** Walks a webhook's deliveries from the oldest on. @returns How many went. */
  const sweepOne = async (webhookId: string, stopped: AbortSignal): Promise<number> => {
    const exists = (await reads.selectFrom("webhooks").select("id").where("id", "=", webhookId).executeTakeFirst()) !== undefined;
    const beyond = await reads.selectFrom("webhook_deliveries").select("id").where("webhook_id", "=", webhookId).orderBy("id", "desc")
      .offset(options.keepEach).limit(1).executeTakeFirst();
    const tooOld = toInstant(clock.now() - options.keepDays * DAY_MS);
    let went = 0;
    for (let after = ""; !stopped.aborted; ) {
      const rows = await reads.selectFrom("webhook_deliveries").select(["id", "lane", "created_at"]).where("webhook_id", "=", webhookId)
        .where("id", ">", after).orderBy("id").limit(CHUNK_ROWS).execute();
      const excess = (row: { readonly id: string; readonly created_at: string }) => !exists || row.id <= (beyond?.id ?? "");
      const gone = rows.filter((row) => !exists || (row.lane === null && (excess(row) || row.created_at < tooOld))).map(({ id }) => id);
      const overflowing = rows.filter((row) => exists && row.lane !== null && excess(row)).map(({ id }) => id);
      if (gone.length + overflowing.length > 0) await db.transaction().execute((trx) => forget(trx, webhookId, { gone, overflowing }));
      went += gone.length;
      const last = rows.at(-1);
      if (!last || rows.length < CHUNK_ROWS || (!excess(last) && last.created_at >= tooOld)) break;
      after = last.id;
      await nextTurn();
    }
    return went;
  };

  const sweep = async (stopped: AbortSignal): Promise<number> => {
    let total = 0;
    for (let after = ""; !stopped.aborted; ) {
      // From one webhook to the next by the key, instead of reading every delivery for its webhook.
      const next = await reads.selectFrom("webhook_deliveries").select("webhook_id").where("webhook_id", ">", after).orderBy("webhook_id")
        .limit(1).executeTakeFirst();
      if (!next) break;
      total += await sweepOne(next.webhook_id, stopped);
      after = next.webhook_id;
    }
    await db.deleteFrom("webhook_notices").where("created_at", "<", toInstant(clock.now() - options.keepDays * DAY_MS))
      .where("status", "!=", "pending").execute();
    return total;
  };
  return createRetentionJob(deps, {
    name: "delivery-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old webhook deliveries", run: sweep,
  });
}

async function forget(
  trx: Transaction<Schema>,
  webhookId: string,
  { gone, overflowing }: { readonly gone: readonly string[]; readonly overflowing: readonly string[] },
): Promise<void> {
  if (gone.length > 0) await trx.deleteFrom("webhook_deliveries").where("webhook_id", "=", webhookId).where("id", "in", gone).execute();
  if (overflowing.length === 0) return;
  await trx.updateTable("webhook_deliveries")
    .set({ status: "failed", lane: null, retry_at: null, error: "overflow: too many deliveries wait for this webhook" })
    .where("webhook_id", "=", webhookId).where("id", "in", overflowing).execute();
}
