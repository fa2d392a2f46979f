import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import { createRetentionJob, type Job } from "../../jobs/job.ts";
import type { SweepStore } from "./sweep-store.ts";

const RUN_EVERY_MS = 10 * 60_000;
/** In one transaction: some milliseconds, in which ingest waits. */
const CHUNK_ROWS = 500;
const DAY_MS = 86_400_000;

/**
 * Forgets deliveries of deleted webhooks, those that are done and older than `keepDays`, and of each webhook what is beyond
 * the newest `keepEach`; what still waits there has failed first, so that a receiver that is dead for days fills no disk.
 */
export function createDeliverySweep(
  deps: { readonly store: SweepStore; readonly clock: Clock; readonly log: Log },
  options: { readonly keepDays: number; readonly keepEach: number },
): Job<number> {
  const { store, clock } = deps;
  /** Walks a webhook's deliveries from the oldest on. @returns How many went. */
  const sweepOne = async (webhookId: string, stopped: AbortSignal): Promise<number> => {
    const exists = await store.exists(webhookId);
    const beyond = await store.newestBeyond(webhookId, options.keepEach) ?? "";
    const tooOld = toInstant(clock.now() - options.keepDays * DAY_MS);
    let went = 0;
    for (let after = ""; !stopped.aborted; ) {
      const rows = await store.from(webhookId, after, CHUNK_ROWS);
      const excess = (row: { readonly id: string }) => !exists || row.id <= beyond;
      const gone = rows.filter((row) => !exists || (row.lane === null && (excess(row) || row.created_at < tooOld))).map(({ id }) => id);
      const overflowing = rows.filter((row) => exists && row.lane !== null && excess(row)).map(({ id }) => id);
      if (gone.length + overflowing.length > 0) await store.forget(webhookId, { gone, overflowing });
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
    for (let id = await store.nextWebhook(""); id !== null && !stopped.aborted; id = await store.nextWebhook(id)) {
      total += await sweepOne(id, stopped);
    }
    await store.forgetNotices(clock.now() - options.keepDays * DAY_MS);
    return total;
  };
  return createRetentionJob(deps, {
    name: "delivery-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old webhook deliveries", run: sweep,
  });
}
