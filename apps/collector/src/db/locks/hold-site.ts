import type { Transaction } from "kysely";
import type { Schema } from "../schema.ts";

/**
 * Holds a site's row until the end of the transaction by a write of nothing: both databases lock the row by it, and SQLite knows no
 * SELECT … FOR UPDATE. @returns False for a site that the tenant does not have.
 */
export async function holdSite(trx: Transaction<Schema>, tenantId: string, siteId: string): Promise<boolean> {
  const site = await trx.updateTable("sites").set((eb) => ({ name: eb.ref("name") }))
    .where("tenant_id", "=", tenantId).where("id", "=", siteId).returning("id").executeTakeFirst();
  return site !== undefined;
}
