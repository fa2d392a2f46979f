import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";
import { ROW_OVERHEAD_BYTES } from "../events/log.ts";

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

  const forgetSome = (tenantId: string): Promise<number> => db.transaction().execute(async (trx) => {
    const { event_bytes: held } = await trx.selectFrom("tenants").select("event_bytes").where("id", "=", tenantId)
      .executeTakeFirstOrThrow();
    const oldest = await trx.selectFrom("events").select(["seq", "received_at", "data"]).where("tenant_id", "=", tenantId).orderBy("seq")
      .limit(CHUNK_EVENTS).execute();
    const tooOld = toInstant(clock.now() - options.keepDays * DAY_MS);
    let freed = 0;
    let count = 0;
    for (const { received_at, data } of oldest) {
      if (received_at >= tooOld && held - freed <= options.keepBytes) break;
      freed += ROW_OVERHEAD_BYTES + data.length;
      count += 1;
    }
    const last = oldest[count - 1];
    if (last === undefined) return 0;
    const { numDeletedRows } = await trx.deleteFrom("events").where("tenant_id", "=", tenantId).where("seq", "<=", last.seq)
      .executeTakeFirst();
    // Another process has been at it at the same moment, and has counted.
    if (numDeletedRows === 0n) return 0;
    await trx.updateTable("tenants").set((eb) => ({ event_bytes: eb("event_bytes", "-", freed) })).where("id", "=", tenantId).execute();
    return count;
  });

  return createRetentionJob(deps, {
    name: "event-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old events",
    async run(stopped) {
      let total = 0;
      for (const { id } of await db.selectFrom("tenants").select("id").execute()) {
        for (let went = CHUNK_EVENTS; went === CHUNK_EVENTS && !stopped.aborted; total += went) {
          went = await forgetSome(id);
          await nextTurn();
        }
      }
      return total;
    },
  });
}
