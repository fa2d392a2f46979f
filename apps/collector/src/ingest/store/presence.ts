import type { Kysely, Transaction } from "kysely";
import { lockSite } from "../../db/locks/lock-site.ts";
import type { Schema } from "../../db/schema.ts";
import { updateMany } from "../../db/query/write-many.ts";
import type { KnownProbe } from "../probes-store.ts";

/**
 * Writes that a probe is silent, and holds its site from then on.
 * @returns False where another process has heard it since `lastHeardAt`, or it is not online: then nothing is written.
 */
export async function setSilent(
  trx: Transaction<Schema>, { probeId, siteId }: KnownProbe, { at, lastHeardAt }: { readonly at: string; readonly lastHeardAt: string },
): Promise<boolean> {
  await lockSite(trx, siteId);
  const { numUpdatedRows } = await trx.updateTable("probes").set({ state: "silent", silent_since: at, last_heard_at: lastHeardAt })
    .where("id", "=", probeId).where("state", "=", "online").where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("last_heard_at", "is", null), eb("last_heard_at", "<=", lastHeardAt)])).executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await setDevicesUnknown(trx, siteId);
  return true;
}

/** Writes that probes, which are held, are online. */
export function setOnline(trx: Transaction<Schema>, probes: readonly KnownProbe[], at: string): Promise<void> {
  return updateMany(trx, "probes", probes.map(({ probeId: id }) => ({ id, state: "online", silent_since: null, last_heard_at: at })));
}

/** After a probe was revoked: nobody watches what it alone watched. */
export function setUnwatched(db: Kysely<Schema>, probeId: string): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const probe = await trx.selectFrom("probes").select("site_id").where("id", "=", probeId).executeTakeFirst();
    if (!probe) return;
    await lockSite(trx, probe.site_id);
    await setDevicesUnknown(trx, probe.site_id);
  });
}

/** The devices of a site that no probe watches any more: nothing is known of them but how they last were. */
async function setDevicesUnknown(trx: Transaction<Schema>, siteId: string): Promise<void> {
  const watching = await trx.selectFrom("probes").select("id").where("site_id", "=", siteId).where("state", "=", "online")
    .where("revoked_at", "is", null).limit(1).executeTakeFirst();
  if (watching) return;
  for (const table of ["interfaces", "devices"] as const) {
    await trx.updateTable(table).set({ presence_state: "unknown" }).where("site_id", "=", siteId).where("presence_state", "<>", "unknown")
      .execute();
  }
}
