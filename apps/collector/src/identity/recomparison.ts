import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { lockSite } from "../db/lock-site.ts";
import type { Schema } from "../db/schema.ts";
import { createJob, type Job } from "../jobs/job.ts";
import { type Candidate, joinDevices } from "./join-devices.ts";
import type { Merges } from "./merges.ts";

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
    for (const { id: siteId, tenant_id: tenantId } of await reads.selectFrom("sites").select(["id", "tenant_id"]).execute()) {
      for (const candidate of [...await byKeys(reads, siteId), ...await byOwnMac(reads, siteId)]) {
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

type OfSite = Omit<Candidate, "tenantId">;

/** Keys that two devices have, and no third. */
async function byKeys(reads: Kysely<Schema>, siteId: string): Promise<readonly OfSite[]> {
  const rows = await reads.selectFrom("device_keys")
    .select((eb) => ["key", eb.fn.min("device_id").as("one"), eb.fn.max("device_id").as("two"), eb.fn.min("source").as("source")])
    .where("site_id", "=", siteId).groupBy("key").having((eb) => eb.fn.countAll(), "=", 2).orderBy("key").execute();
  return rows.map(({ key, one, two, source }) => ({ deviceId: one, otherId: two, reason: { key, source } }));
}

/** MACs that one device announced as its own and another one has. */
async function byOwnMac(reads: Kysely<Schema>, siteId: string): Promise<readonly OfSite[]> {
  const rows = await reads.selectFrom("device_keys").innerJoin("interfaces", (join) => join
    .on((eb) => eb("device_keys.key", "=", eb(eb.val("mac "), "||", eb.ref("interfaces.mac"))))
    .onRef("interfaces.site_id", "=", "device_keys.site_id"))
    .select(["device_keys.device_id", "interfaces.device_id as owner_id", "device_keys.key", "device_keys.source"])
    .where("device_keys.site_id", "=", siteId).whereRef("device_keys.device_id", "<>", "interfaces.device_id").execute();
  return rows.map(({ device_id: deviceId, owner_id: otherId, key, source }) => ({ deviceId, otherId, reason: { key, source } }));
}
