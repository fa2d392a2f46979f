import { type Clock, createId, type Lifecycle, type Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Peers } from "../broker/broker.ts";
import { hasRowLocks } from "../db/row-locks.ts";
import type { Schema } from "../db/schema.ts";
import type { LiveEvents } from "../events/live.ts";
import { createRateLimiter, type RateLimiter } from "../gateway/limits/rate-limit.ts";
import { createSharedRateLimiter } from "../gateway/limits/shared-rate-limit.ts";
import type { StreamSessions } from "../gateway/stream-sessions.ts";
import type { Job } from "../jobs/job.ts";
import { type Lease, openLease } from "../jobs/lease.ts";
import { type KeptSecrets, secretsInDatabase, secretsInFiles } from "../sealing/kept-secrets.ts";
import type { Sealing } from "../sealing/sealing.ts";

/** What a process shares with others on the same database, or has for itself where there can be none. */
export interface Replicas {
  readonly secrets: KeptSecrets;
  readonly limiter: RateLimiter;
  /** Which replica runs the jobs of one replica; null where this process is the only one. */
  readonly lease: Lease | null;
  readonly jobs: readonly Job[];
  /** What is done at the word of others, and when one has died; undefined where there are none. To be called once. */
  peersOf(
    live: Pick<LiveEvents, "published">, ingest: { askAllAgain(): Promise<void> }, sessions: Pick<StreamSessions, "accessChanged">,
  ): Peers | undefined;
  /** Calls `look` each second where others may have committed something, of which the broker's hint was lost. */
  follow(look: () => void): void;
}

const FOLLOW_EVERY_MS = 1000;

/** PostgreSQL may serve several collectors, SQLite serves one. */
export async function openReplicas(deps: {
  readonly db: Kysely<Schema>; readonly sealing: Sealing; readonly dataDir: string; readonly clock: Clock; readonly log: Log;
  readonly lifecycle: Pick<Lifecycle, "onClose">;
}): Promise<Replicas> {
  const { db, dataDir, clock, lifecycle } = deps;
  if (!hasRowLocks(db)) {
    return {
      secrets: secretsInFiles(dataDir), limiter: createRateLimiter({ clock }), lease: null, jobs: [], peersOf: () => undefined, follow: () => {},
    };
  }
  let takeover = () => {};
  const lease = await openLease(deps, { name: "maintenance", holder: createId(), onTaken: () => takeover() });
  lifecycle.onClose("leader lease", () => lease.close());
  const limiter = createSharedRateLimiter(deps);
  return {
    secrets: secretsInDatabase(deps), limiter, lease, jobs: [limiter.job],
    peersOf(live, ingest, sessions) {
      takeover = () => void ingest.askAllAgain();
      return {
        committed: (tenantId) => live.published(tenantId, 0), accessChanged: (tenantId) => sessions.accessChanged(tenantId), lost: takeover,
      };
    },
    follow(look) {
      const stop = clock.every(FOLLOW_EVERY_MS, look);
      lifecycle.onClose("other collectors' events", async () => stop());
    },
  };
}
