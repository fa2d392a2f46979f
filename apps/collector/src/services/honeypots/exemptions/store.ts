import type { Kysely, Selectable, Transaction } from "kysely";
import { reviseSite } from "../../../db/locks/hold-site.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";

/** An exemption as stored. */
export type ExemptionRow = Selectable<Schema["honeypot_exemptions"]>;
type Trx = Transaction<Schema>;

/** Exemptions of sites: those that have not expired at `now`. */
export interface ExemptionsStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Counts the site's configuration up and holds its row until the transaction ends. @returns Whether the tenant has the site. */
  reviseSite(trx: Trx, tenantId: string, siteId: string): Promise<boolean>;
  /** Of all sites, or of one, in the order in which they were added. */
  list(tenantId: string, siteId: string | undefined, now: string): Promise<readonly ExemptionRow[]>;
  ofSite(handle: Trx | null, siteId: string, now: string): Promise<readonly ExemptionRow[]>;
  byId(tenantId: string, id: string, now: string): Promise<ExemptionRow | null>;
  add(trx: Trx, row: ExemptionRow): Promise<void>;
  /** @returns What was removed; null where there was no such one. */
  remove(trx: Trx, tenantId: string, id: string): Promise<ExemptionRow | null>;
  forgetExpired(trx: Trx, siteId: string, now: string): Promise<void>;
}

/** Over the collector's database. */
export function createExemptionsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): ExemptionsStore {
  const current = (handle: Kysely<Schema>, now: string) => handle.selectFrom("honeypot_exemptions").selectAll()
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id");
  return {
    transaction: (work) => db.transaction().execute(work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    reviseSite,
    list: (tenantId, siteId, now) => {
      const query = current(reads, now).where("tenant_id", "=", tenantId);
      return (siteId === undefined ? query : query.where("site_id", "=", siteId)).execute();
    },
    ofSite: (handle, siteId, now) => current(handle ?? reads, now).where("site_id", "=", siteId).execute(),
    byId: async (tenantId, id, now) => (await current(reads, now).where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) ?? null,
    async add(trx, row) {
      await trx.insertInto("honeypot_exemptions").values(row).execute();
    },
    remove: async (trx, tenantId, id) =>
      (await trx.deleteFrom("honeypot_exemptions").where("tenant_id", "=", tenantId).where("id", "=", id).returningAll().executeTakeFirst()) ?? null,
    async forgetExpired(trx, siteId, now) {
      await trx.deleteFrom("honeypot_exemptions").where("site_id", "=", siteId).where("expires_at", "<=", now).execute();
    },
  };
}
