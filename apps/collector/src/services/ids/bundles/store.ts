import type { Kysely, Selectable } from "kysely";
import { siteIdsOf } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";

/** What a site was given last. */
export type SiteBundleRow = Selectable<Schema["ids_site_bundles"]>;

/** What sites were given, and which sites there are. */
export interface SiteBundlesStore {
  all(): Promise<readonly SiteBundleRow[]>;
  put(row: SiteBundleRow): Promise<void>;
  /** Tenants that have rule sets. */
  tenants(): Promise<readonly string[]>;
  sites(tenantId: string): Promise<readonly string[]>;
}

/** Over the collector's database. */
export function createSiteBundlesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SiteBundlesStore {
  return {
    all: () => reads.selectFrom("ids_site_bundles").selectAll().orderBy("site_id").execute(),
    async put(row) {
      const { site_id: _, ...columns } = row;
      await db.insertInto("ids_site_bundles").values(row).onConflict((conflict) => conflict.column("site_id").doUpdateSet(columns)).execute();
    },
    tenants: async () => (await reads.selectFrom("ids_rulesets").select("tenant_id").distinct().execute()).map(({ tenant_id: id }) => id),
    sites: (tenantId) => siteIdsOf(reads, tenantId),
  };
}
