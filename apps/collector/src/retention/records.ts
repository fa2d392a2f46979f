import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";
import { tenantIds } from "./events-store.ts";
import {
  forgetAuditRecords, forgetQueues, forgetRejected, oldestKeptQueue, oldestRejected, probesOfManyQueues, rejectedBytes, type RejectedEvent,
} from "./records-store.ts";

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
  const daysAgo = (days: number) => toInstant(clock.now() - days * DAY_MS);

  const forgetAudit = (tenantId: string) => forgetAuditRecords(deps, tenantId, {
    isCounted: false, before: daysAgo(limits.audit.keepDays), keepRecords: limits.audit.keepRecords, limit: CHUNK_ROWS,
  });
  const forgetAuthentication = (tenantId: string) => forgetAuditRecords(deps, tenantId, {
    isCounted: true, before: daysAgo(limits.audit.keepAuthenticationDays), keepRecords: MAX_AUTHENTICATION_RECORDS, limit: CHUNK_ROWS,
  });

  /** What is beyond a tenant's bytes goes from the probes that have most of them: none pushes out what another sent. */
  const tooManyRejected = async (tenantId: string): Promise<readonly RejectedEvent[]> => {
    const held = await rejectedBytes(reads, tenantId);
    const share = shareOf(held.map(({ bytes }) => bytes), limits.rejected.keepBytes);
    const most = held.find(({ bytes }) => bytes > share);
    if (!most) return [];
    let excess = most.bytes - share;
    return (await oldestRejected(reads, tenantId, { probeId: most.probeId, limit: CHUNK_ROWS })).filter(({ bytes }) => {
      const isTooMuch = excess > 0;
      excess -= bytes;
      return isTooMuch;
    });
  };

  const forgetUnreadable = async (tenantId: string): Promise<number> => {
    const old = await oldestRejected(reads, tenantId, { before: daysAgo(limits.rejected.keepDays), limit: CHUNK_ROWS });
    const gone = old.length > 0 ? old : await tooManyRejected(tenantId);
    await forgetRejected(db, gone);
    return gone.length;
  };

  return createRetentionJob(deps, {
    name: "record-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old records",
    async run(stopped) {
      let total = await forgetOldQueues(deps, stopped);
      for (const id of await tenantIds(reads)) {
        for (const forget of [forgetAudit, forgetAuthentication, forgetUnreadable]) {
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

/** The queue that is in use was moved last, and stays whatever came after it. @returns How many went. */
async function forgetOldQueues(handles: Handles, stopped: AbortSignal): Promise<number> {
  let total = 0;
  for (const probeId of await probesOfManyQueues(handles.reads, KEEP_QUEUES)) {
    const before = await oldestKeptQueue(handles.reads, probeId, KEEP_QUEUES);
    for (let went = CHUNK_ROWS; went === CHUNK_ROWS && !stopped.aborted; total += went) {
      went = await forgetQueues(handles, probeId, { before, limit: CHUNK_ROWS });
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
