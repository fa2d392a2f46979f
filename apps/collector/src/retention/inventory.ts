import { type Clock, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createRetentionJob, type Job } from "../jobs/job.ts";
import { type DeviceLimits, limitDevices } from "./device-parts-store.ts";
import { limitSites } from "./limit-sites.ts";

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
      const ids = (await reads.selectFrom("devices").select("id").where("id", ">", after).where("last_seen", ">=", since).orderBy("id")
        .limit(CHUNK_DEVICES).execute()).map(({ id }) => id);
      total += await limitDevices(db, ids, limits, before);
      after = ids.at(-1) ?? "";
      if (ids.length < CHUNK_DEVICES) break;
      await nextTurn();
    }
    return total;
  };

  /** What was taken apart by people stays known for as long as the devices are: without it they would be joined again. */
  const limitMerges = async (before: string, stopped: AbortSignal): Promise<number> => {
    const old = await db.deleteFrom("device_merges").where("at", "<", before).where("undone_at", "is", null).executeTakeFirst();
    let total = Number(old.numDeletedRows);
    const many = await reads.selectFrom("device_merges").select("kept_id").where("undone_at", "is", null).groupBy("kept_id")
      .having((eb) => eb.fn.countAll(), ">", limits.keepMerges).execute();
    for (const { kept_id: keptId } of many) {
      if (stopped.aborted) break;
      const beyond = await reads.selectFrom("device_merges").select("id").where("kept_id", "=", keptId).where("undone_at", "is", null)
        .orderBy("id", "desc").offset(limits.keepMerges).limit(1).executeTakeFirst();
      if (!beyond) continue;
      const gone = await db.deleteFrom("device_merges").where("kept_id", "=", keptId).where("undone_at", "is", null)
        .where("id", "<=", beyond.id).executeTakeFirst();
      total += Number(gone.numDeletedRows);
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
