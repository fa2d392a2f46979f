import type { Transaction, UpdateQueryBuilder, UpdateResult } from "kysely";
import type { Schema } from "../schema.ts";

/**
 * Holds a site's row until the end of the transaction by a write of nothing: both databases lock the row by it, and SQLite knows no
 * SELECT … FOR UPDATE. @returns False for a site that the tenant does not have.
 */
export function holdSite(trx: Transaction<Schema>, tenantId: string, siteId: string): Promise<boolean> {
  return isHeld(trx.updateTable("sites").set((eb) => ({ name: eb.ref("name") })), tenantId, siteId);
}

/** The same by a write of one more revision of what its probes are to do, for whoever changes a part of that. @returns False for a site that the tenant does not have. */
export function reviseSite(trx: Transaction<Schema>, tenantId: string, siteId: string): Promise<boolean> {
  return isHeld(trx.updateTable("sites").set((eb) => ({ configuration_revision: eb("configuration_revision", "+", 1) })), tenantId, siteId);
}

async function isHeld(written: UpdateQueryBuilder<Schema, "sites", "sites", UpdateResult>, tenantId: string, siteId: string): Promise<boolean> {
  return (await written.where("tenant_id", "=", tenantId).where("id", "=", siteId).returning("id").executeTakeFirst()) !== undefined;
}
