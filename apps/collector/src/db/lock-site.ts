import type { Transaction } from "kysely";
import { hasRowLocks } from "./row-locks.ts";
import type { Schema } from "./schema.ts";

/**
 * Holds a site's row until the transaction ends. Who reads what a site's devices are, and then changes it, calls this before
 * the first read, and before `lockTenant`: two probes of a site that both see a new host would otherwise make two devices of it.
 * SQLite has one writer at a time, so that nothing is to be done there.
 */
export async function lockSite(trx: Transaction<Schema>, siteId: string): Promise<void> {
  if (!hasRowLocks(trx)) return;
  await trx.updateTable("sites").set((eb) => ({ name: eb.ref("name") })).where("id", "=", siteId).execute();
}
