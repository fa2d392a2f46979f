import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";
import { forgetEvents, tenantIds } from "./events-store.ts";

const RUN_EVERY_MS = 10 * 60_000;
/** In one transaction: some milliseconds, in which ingest waits. */
const CHUNK_EVENTS = 500;
const DAY_MS = 86_400_000;

/**
 * Keeps each tenant's event log within an age and a size, oldest first, every ten minutes.
 * @param options.keepBytes What a tenant's events may take, data and rows.
 */
export function createRetention(
  deps: { readonly db: Kysely<Schema>; readonly clock: Clock; readonly log: Log },
  options: { readonly keepDays: number; readonly keepBytes: number },
): Job<number> {
  const { db, clock } = deps;

  const forgetSome = (tenantId: string) => forgetEvents(db, tenantId, {
    before: toInstant(clock.now() - options.keepDays * DAY_MS), keepBytes: options.keepBytes, limit: CHUNK_EVENTS,
  });

  return createRetentionJob(deps, {
    name: "event-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old events",
    async run(stopped) {
      let total = 0;
      for (const id of await tenantIds(db)) {
        for (let went = CHUNK_EVENTS; went === CHUNK_EVENTS && !stopped.aborted; total += went) {
          went = await forgetSome(id);
          await nextTurn();
        }
      }
      return total;
    },
  });
}
