import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";

export type SiteRow = Selectable<Schema["sites"]>;

export interface SitesStore {
  /** In the order in which they were made. @param from Rows to skip, or the id after which to go on. */
  list(tenantId: string, options: { readonly from: number | string; readonly limit: number }): Promise<readonly SiteRow[]>;
  count(tenantId: string): Promise<number>;
  byId(tenantId: string, siteId: string): Promise<SiteRow | null>;
  /** @returns False when the tenant has a site of this name. */
  create(site: Omit<SiteRow, "configuration_revision">): Promise<boolean>;
}

export function createSitesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SitesStore {
  return {
    list(tenantId, { from, limit }) {
      const query = reads.selectFrom("sites").selectAll().where("tenant_id", "=", tenantId).orderBy("id").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", ">", from)).execute();
    },
    async count(tenantId) {
      const row = await reads.selectFrom("sites").select((eb) => eb.fn.countAll<number>().as("total")).where("tenant_id", "=", tenantId)
        .executeTakeFirstOrThrow();
      return row.total;
    },
    async byId(tenantId, siteId) {
      return (await reads.selectFrom("sites").selectAll().where("tenant_id", "=", tenantId).where("id", "=", siteId)
        .executeTakeFirst()) ?? null;
    },
    async create(site) {
      const { numInsertedOrUpdatedRows } = await db.insertInto("sites").values(site)
        .onConflict((conflict) => conflict.columns(["tenant_id", "name"]).doNothing()).executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },
  };
}
