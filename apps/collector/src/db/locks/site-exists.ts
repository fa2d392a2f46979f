import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

/** Whether a tenant has a site. A service's store offers it, so that no service needs that of sites. */
export async function siteExists(db: Kysely<Schema>, tenantId: string, siteId: string): Promise<boolean> {
  const site = await db.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "=", siteId).executeTakeFirst();
  return site !== undefined;
}

/** Whether a tenant has all of these sites. Asks nothing where there are none. */
export async function sitesExist(db: Kysely<Schema>, tenantId: string, siteIds: readonly string[]): Promise<boolean> {
  if (siteIds.length === 0) return true;
  const found = await db.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "in", siteIds).execute();
  return found.length === new Set(siteIds).size;
}

/** The ids of a tenant's sites, in the order in which they were made. */
export async function siteIdsOf(db: Kysely<Schema>, tenantId: string): Promise<readonly string[]> {
  return (await db.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).orderBy("id").execute()).map(({ id }) => id);
}
