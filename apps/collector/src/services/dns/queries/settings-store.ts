import type { DnsQueryLevel } from "@lanthorn/contract";
import type { Kysely, Selectable, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists, siteIdsOf } from "../../../db/locks/site-exists.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";

/** What people decided of a site's log of queries. */
export type QuerySettingsRow = Omit<Selectable<Schema["dns_query_settings"]>, "level"> & { readonly level: DnsQueryLevel | null };
type Trx = Transaction<Schema>;

/** Settings of sites: of those alone of which something was decided. */
export interface QuerySettingsStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** All sites of a tenant. */
  sites(tenantId: string): Promise<readonly string[]>;
  all(tenantId: string): Promise<readonly QuerySettingsRow[]>;
  bySite(handle: Trx | null, siteId: string): Promise<QuerySettingsRow | null>;
  put(trx: Trx, row: QuerySettingsRow): Promise<void>;
  /** Whoever's, where it is decided for how long queries are kept. */
  withDays(): Promise<readonly { readonly siteId: string; readonly keepDays: number }[]>;
}

/** Over the collector's database. */
export function createQuerySettingsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): QuerySettingsStore {
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    sites: (tenantId) => siteIdsOf(reads, tenantId),
    all: async (tenantId) => (await reads.selectFrom("dns_query_settings").selectAll().where("tenant_id", "=", tenantId).execute()).map(toRow),
    async bySite(handle, siteId) {
      const row = await (handle ?? reads).selectFrom("dns_query_settings").selectAll().where("site_id", "=", siteId).executeTakeFirst();
      return row ? toRow(row) : null;
    },
    async put(trx, row) {
      const { site_id: _, ...columns } = row;
      await trx.insertInto("dns_query_settings").values(row).onConflict((conflict) => conflict.column("site_id").doUpdateSet(columns)).execute();
    },
    async withDays() {
      const rows = await reads.selectFrom("dns_query_settings").select(["site_id", "keep_days"]).where("keep_days", "is not", null).execute();
      return rows.flatMap(({ site_id: siteId, keep_days: keepDays }) => (keepDays === null ? [] : [{ siteId, keepDays }]));
    },
  };
}

/** Settings of some sites, by their ids. */
export async function readQuerySettings(trx: Trx, siteIds: readonly string[]): Promise<ReadonlyMap<string, QuerySettingsRow>> {
  const rows = await selectIn(siteIds, (list) => trx.selectFrom("dns_query_settings").selectAll().where("site_id", "in", list).execute());
  return new Map(rows.map((row) => [row.site_id, toRow(row)]));
}

function toRow({ level, ...same }: Selectable<Schema["dns_query_settings"]>): QuerySettingsRow {
  return { ...same, level: level as DnsQueryLevel | null };
}
