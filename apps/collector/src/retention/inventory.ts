import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";
import { type DeviceLimits, deviceIdsSince, limitDevices } from "./device-parts-store.ts";
import { limitSites } from "./limit-sites.ts";
import { devicesOfManyMerges, forgetMergesBeyond, forgetOldMerges } from "./merges-store.ts";

/** How much a site, a device and each of a device's tables may keep. */
export interface InventoryLimits extends DeviceLimits {
  /** Devices of a site: see `limitSites`. */
  readonly keepDevices: number;
  /** Merges of a device that can be undone. */
  readonly keepMerges: number;
}

const RUN_EVERY_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
const CHUNK_DEVICES = 200;

/**
 * Keeps what hangs on devices within bounds, and how many devices a site has, whatever its probes say. Every ten minutes those that
 * were seen since are looked at, and once a day all.
 */
export function createInventoryRetention(
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly log: Log }, limits: InventoryLimits,
): Job<number> {
  const { db, reads, clock } = deps;
  let lookedAt: number | null = null;
  let lookedAtAll: number | null = null;

  const limitParts = async (since: string, before: string, stopped: AbortSignal): Promise<number> => {
    let total = 0;
    for (let after = ""; !stopped.aborted;) {
      const ids = await deviceIdsSince(reads, { since, after, limit: CHUNK_DEVICES });
      total += await limitDevices(db, ids, limits, before);
      after = ids.at(-1) ?? "";
      if (ids.length < CHUNK_DEVICES) break;
      await nextTurn();
    }
    return total;
  };

  /** What was taken apart by people stays known for as long as the devices are: without it they would be joined again. */
  const limitMerges = async (before: string, stopped: AbortSignal): Promise<number> => {
    let total = await forgetOldMerges(db, before);
    for (const deviceId of await devicesOfManyMerges(reads, limits.keepMerges)) {
      if (stopped.aborted) break;
      total += await forgetMergesBeyond(deps, deviceId, limits.keepMerges);
      await nextTurn();
    }
    return total;
  };

  return createRetentionJob(deps, {
    name: "device-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "old rows of devices",
    async run(stopped) {
      const now = clock.now();
      const isAll = lookedAt === null || lookedAtAll === null || now - lookedAtAll >= DAY_MS;
      const since = isAll ? "" : toInstant((lookedAt ?? 0) - RUN_EVERY_MS);
      const before = toInstant(now - limits.keepDays * DAY_MS);
      const sites = await limitSites({ db, reads }, limits.keepDevices, stopped);
      const merges = await limitMerges(before, stopped);
      const parts = await limitParts(since, before, stopped);
      lookedAt = now;
      if (isAll) lookedAtAll = now;
      return sites + merges + parts;
    },
  });
}
