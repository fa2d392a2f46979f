import type { Transaction } from "kysely";
import { hasRowLocks } from "../row-locks.ts";
import type { Schema } from "../schema.ts";

/**
 * Holds a site's row until the transaction ends. Who reads what a site's devices are, and then changes it, calls this before
 * the first read, and before `lockTenant`: two probes of a site that both see a new host would otherwise make two devices of it.
 * SQLite has one writer at a time, so that nothing is to be done there.
 */
export function lockSite(trx: Transaction<Schema>, siteId: string): Promise<void> {
  return lockSites(trx, [siteId]);
}

/** The same with several, in the one order in which all take them. */
export async function lockSites(trx: Transaction<Schema>, siteIds: readonly string[]): Promise<void> {
  if (!hasRowLocks(trx) || siteIds.length === 0) return;
  await trx.selectFrom("sites").select("id").where("id", "in", siteIds).orderBy("id").forNoKeyUpdate().execute();
}
