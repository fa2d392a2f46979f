import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** What a site was given last. */
export type SiteBundleRow = Selectable<Schema["dns_site_bundles"]>;

/** What sites were given. */
export interface SiteBundlesStore {
  all(): Promise<readonly SiteBundleRow[]>;
  put(row: SiteBundleRow): Promise<void>;
  /** Tenants that have lists, policies, decisions or settings. */
  tenants(): Promise<readonly string[]>;
}

/** Over the collector's database. */
export function createSiteBundlesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SiteBundlesStore {
  return {
    all: () => reads.selectFrom("dns_site_bundles").selectAll().orderBy("site_id").execute(),
    async put(row) {
      const { site_id: _, ...columns } = row;
      await db.insertInto("dns_site_bundles").values(row).onConflict((conflict) => conflict.column("site_id").doUpdateSet(columns)).execute();
    },
    async tenants() {
      const found = await Promise.all((["dns_lists", "dns_policies", "dns_decisions", "dns_query_settings"] as const).map((table) => reads.selectFrom(table).select("tenant_id").distinct().execute()));
      return [...new Set(found.flat().map(({ tenant_id: id }) => id))];
    },
  };
}
