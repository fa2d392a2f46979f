import type { Kysely, Transaction } from "kysely";
import { reviseSite } from "../../../db/locks/hold-site.ts";
import type { Schema } from "../../../db/schema.ts";

/** What sites have set for captures. */
export interface SiteSettingsStore {
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
  /** Counts the site's configuration up and holds its row until the transaction ends. @returns Whether the tenant has the site. */
  reviseSite(trx: Transaction<Schema>, tenantId: string, siteId: string): Promise<boolean>;
  /** JSON text; null where nothing was set. */
  settings(handle: Transaction<Schema> | null, siteId: string): Promise<string | null>;
  putSettings(trx: Transaction<Schema>, tenantId: string, siteId: string, settings: string): Promise<void>;
}

/** Over the collector's database. */
export function createSiteSettingsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SiteSettingsStore {
  return {
    transaction: (work) => db.transaction().execute(work),
    reviseSite,
    settings: async (handle, siteId) =>
      (await (handle ?? reads).selectFrom("capture_settings").select("settings").where("site_id", "=", siteId).executeTakeFirst())?.settings ?? null,
    async putSettings(trx, tenantId, siteId, settings) {
      await trx.insertInto("capture_settings").values({ site_id: siteId, tenant_id: tenantId, settings })
        .onConflict((conflict) => conflict.column("site_id").doUpdateSet({ settings })).execute();
    },
  };
}
