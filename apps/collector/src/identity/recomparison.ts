import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { lockSite } from "../db/locks/lock-site.ts";
import type { Schema } from "../db/schema.ts";
import { createJob, type Job } from "../jobs/job.ts";
import { joinDevices } from "./join-devices.ts";
import { allSites, pairsByKey, pairsByOwnMac } from "./merging/merge-store.ts";
import type { Merges } from "./merging/merges.ts";

/** Looks again, each night, for devices that are one: a run gives back how many were found to be a part of another one. */
export type Recomparison = Job<number>;

const HOUR_MS = 3_600_000;
/** When most sites are quiet and nobody reads lists. */
const HOUR_UTC = 3;

/**
 * Devices with a key in common are joined when the key is seen. Some cannot be then: while a third device has the key too,
 * while the two are too large together, while both are virtual machines that run, or while people call them by two names.
 * What has kept them apart may be over, and nobody sees the key for the first time again.
 */
export function createRecomparison(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly merges: Merges; readonly clock: Clock; readonly log: Log;
}): Recomparison {
  const { db, reads, clock, log } = deps;

  const compare = async (stopped: AbortSignal): Promise<number> => {
    let total = 0;
    for (const { id: siteId, tenant_id: tenantId } of await allSites(reads)) {
      for (const candidate of [...await pairsByKey(reads, siteId), ...await pairsByOwnMac(reads, siteId)]) {
        if (stopped.aborted) return total;
        total += await db.transaction().execute(async (trx) => {
          await lockSite(trx, siteId);
          return (await joinDevices(trx, deps.merges, { by: "identity", candidates: [{ ...candidate, tenantId }] })).size;
        });
      }
    }
    if (total > 0) log.info({ devices: total }, "devices were merged");
    return total;
  };
  return createJob({ clock, log }, {
    name: "device-comparison", everyMs: HOUR_MS, hourUtc: HOUR_UTC, who: "one replica",
    failure: "devices could not be compared, trying again tomorrow", run: compare,
  });
}
