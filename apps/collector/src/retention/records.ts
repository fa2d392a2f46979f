import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import { type Kysely, sql } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";

/** How long and how much each tenant's audit log and unreadable events may keep. Days are of 24 hours. */
export interface RecordLimits {
  readonly audit: {
    readonly keepDays: number; readonly keepRecords: number;
    /** Of logins, failed ones and logouts, which are counted by the hour. */
    readonly keepAuthenticationDays: number;
  };
  /** Events that could not be read. */
  readonly rejected: { readonly keepDays: number; readonly keepBytes: number };
}

interface Handles {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
}

const RUN_EVERY_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
/** In one transaction: some milliseconds, in which ingest waits. */
const CHUNK_ROWS = 500;
/** Of each tenant, beside the other records, so that who fails to log in pushes out nothing but the same. Some 20 MB. */
const MAX_AUTHENTICATION_RECORDS = 50_000;
/** A probe makes a new queue when its old one is broken; the watermarks of those before say nothing any more. */
const KEEP_QUEUES = 100;

/** Keeps each tenant's audit log, and what its probes sent that nobody could read, within an age and a size, oldest first. */
export function createRecordRetention(
  deps: Handles & { readonly clock: Clock; readonly log: Log }, limits: RecordLimits,
): Job<number> {
  const { db, reads, clock } = deps;

  const forgetOfAudit = async (tenantId: string, { isCounted, keepDays, keepRecords }: {
    readonly isCounted: boolean; readonly keepDays: number; readonly keepRecords: number;
  }): Promise<number> => {
    const tooOld = toInstant(clock.now() - keepDays * DAY_MS);
    const of = () => reads.selectFrom("audit").where("tenant_id", "=", tenantId).where("window_key", isCounted ? "is not" : "is", null);
    const beyond = await of().select("id").orderBy("id", "desc").offset(keepRecords).limit(1).executeTakeFirst();
    const oldest = await of().select(["id", "at"]).orderBy("id").limit(CHUNK_ROWS).execute();
    const gone = oldest.filter(({ id, at }) => at < tooOld || id <= (beyond?.id ?? "")).map(({ id }) => id);
    if (gone.length > 0) await db.deleteFrom("audit").where("id", "in", gone).execute();
    return gone.length;
  };
  const forgetAudit = (tenantId: string) => forgetOfAudit(tenantId, { isCounted: false, ...limits.audit });
  const forgetAuthentication = (tenantId: string) => forgetOfAudit(tenantId, {
    isCounted: true, keepDays: limits.audit.keepAuthenticationDays, keepRecords: MAX_AUTHENTICATION_RECORDS,
  });

  const oldestRejected = (tenantId: string) =>
    reads.selectFrom("rejected_events").select(["probe_id", "queue_id", "probe_seq", "received_at"])
      .select(sql<number>`length(payload) + length(reason)`.as("bytes"))
      .where("tenant_id", "=", tenantId).orderBy("received_at").orderBy("probe_seq").limit(CHUNK_ROWS);

  /** What is beyond a tenant's bytes goes from the probes that have most of them: none pushes out what another sent. */
  const tooManyRejected = async (tenantId: string) => {
    const held = (await reads.selectFrom("rejected_events").select("probe_id")
      .select(sql<number | string>`sum(length(payload) + length(reason))`.as("bytes"))
      .where("tenant_id", "=", tenantId).groupBy("probe_id").execute()).map(({ probe_id, bytes }) => ({ probeId: probe_id, bytes: Number(bytes) }));
    const share = shareOf(held.map(({ bytes }) => bytes), limits.rejected.keepBytes);
    const most = held.find(({ bytes }) => bytes > share);
    if (!most) return [];
    let excess = most.bytes - share;
    return (await oldestRejected(tenantId).where("probe_id", "=", most.probeId).execute()).filter(({ bytes }) => {
      const isTooMuch = excess > 0;
      excess -= bytes;
      return isTooMuch;
    });
  };

  const forgetRejected = async (tenantId: string): Promise<number> => {
    const tooOld = toInstant(clock.now() - limits.rejected.keepDays * DAY_MS);
    const old = await oldestRejected(tenantId).where("received_at", "<", tooOld).execute();
    const gone = old.length > 0 ? old : await tooManyRejected(tenantId);
    if (gone.length > 0) await db.transaction().execute(async (trx) => {
      for (const { probe_id, queue_id, probe_seq } of gone) {
        await trx.deleteFrom("rejected_events").where("probe_id", "=", probe_id).where("queue_id", "=", queue_id)
          .where("probe_seq", "=", probe_seq).execute();
      }
    });
    return gone.length;
  };

  return createRetentionJob(deps, {
    name: "record-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old records",
    async run(stopped) {
      let total = await forgetQueues(deps, stopped);
      for (const { id } of await reads.selectFrom("tenants").select("id").execute()) {
        for (const forget of [forgetAudit, forgetAuthentication, forgetRejected]) {
          for (let went = 1; went > 0 && !stopped.aborted; total += went) {
            went = await forget(id);
            await nextTurn();
          }
        }
      }
      return total;
    },
  });
}

/** @returns How many went. */
async function forgetQueues({ db, reads }: Handles, stopped: AbortSignal): Promise<number> {
  let total = 0;
  const many = await reads.selectFrom("probe_queues").select("probe_id").groupBy("probe_id")
    .having((eb) => eb.fn.countAll(), ">", KEEP_QUEUES).execute();
  for (const { probe_id: probeId } of many) {
    // The one that is in use was moved last, and stays whatever came after it.
    const kept = await reads.selectFrom("probe_queues").select("updated_at").where("probe_id", "=", probeId)
      .orderBy("updated_at", "desc").offset(KEEP_QUEUES - 1).limit(1).executeTakeFirstOrThrow();
    for (let went = CHUNK_ROWS; went === CHUNK_ROWS && !stopped.aborted; total += went) {
      const old = await reads.selectFrom("probe_queues").select("queue_id").where("probe_id", "=", probeId)
        .where("updated_at", "<", kept.updated_at).orderBy("updated_at").limit(CHUNK_ROWS).execute();
      went = old.length;
      if (went > 0) await db.deleteFrom("probe_queues").where("probe_id", "=", probeId)
        .where("queue_id", "in", old.map(({ queue_id: id }) => id)).where("updated_at", "<", kept.updated_at).execute();
      await nextTurn();
    }
  }
  return total;
}

/** @returns The most that each may have, where those who have less leave the rest to the others, so that all have `most` together. */
function shareOf(held: readonly number[], most: number): number {
  let left = most;
  for (const [index, bytes] of held.toSorted((a, b) => a - b).entries()) {
    const share = left / (held.length - index);
    if (bytes > share) return share;
    left -= bytes;
  }
  return Number.POSITIVE_INFINITY;
}
