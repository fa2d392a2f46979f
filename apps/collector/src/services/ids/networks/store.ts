import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** What is said of sites' networks. */
export interface NetworksStore {
  /** The networks that somebody named; null where nobody did. */
  named(handle: Transaction<Schema> | null, siteId: string): Promise<readonly string[] | null>;
  /** @param networks Null: nobody says anything any more. */
  put(trx: Transaction<Schema>, tenantId: string, siteId: string, networks: readonly string[] | null): Promise<void>;
  /** Prefixes of the address plan that are in use: the site's, and those of all sites. The widest first. */
  planned(tenantId: string, siteId: string): Promise<readonly string[]>;
}

/** Of a plan. Each is compared with those that are wider. */
const MAX_PLANNED = 1000;

/** Over the collector's database. */
export function createNetworksStore({ reads }: { readonly reads: Kysely<Schema> }): NetworksStore {
  return {
    async named(handle, siteId) {
      const row = await (handle ?? reads).selectFrom("ids_site_networks").select("home_networks").where("site_id", "=", siteId).executeTakeFirst();
      return row ? JSON.parse(row.home_networks) as readonly string[] : null;
    },
    async put(trx, tenantId, siteId, networks) {
      await trx.deleteFrom("ids_site_networks").where("site_id", "=", siteId).execute();
      if (networks !== null) await trx.insertInto("ids_site_networks").values({ site_id: siteId, tenant_id: tenantId, home_networks: JSON.stringify(networks) }).execute();
    },
    planned: async (tenantId, siteId) => (await reads.selectFrom("ipam_prefixes").select("prefix").where("tenant_id", "=", tenantId)
      .where((eb) => eb.or([eb("site_id", "=", siteId), eb("site_id", "is", null)])).where("status", "in", ["active", "container"]).orderBy("length").orderBy("sort_key").limit(MAX_PLANNED).execute())
      .map(({ prefix }) => prefix),
  };
}
