import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import type { SuppressionRow } from "./plan.ts";

type Trx = Transaction<Schema>;

/** Suppressions of tenants. Those that have expired at `now` are not there. */
export interface SuppressionsStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  deviceExists(tenantId: string, deviceId: string): Promise<boolean>;
  /** In the order in which they were made. */
  all(handle: Trx | null, tenantId: string, now: string): Promise<readonly SuppressionRow[]>;
  byId(handle: Trx | null, tenantId: string, id: string, now: string): Promise<SuppressionRow | null>;
  add(trx: Trx, row: SuppressionRow): Promise<void>;
  update(trx: Trx, id: string, change: Pick<SuppressionRow, "reason" | "expires_at">): Promise<void>;
  remove(trx: Trx, id: string): Promise<void>;
}

/** Over the collector's database. */
export function createSuppressionsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SuppressionsStore {
  const current = (handle: Trx | null, tenantId: string, now: string) => (handle ?? reads).selectFrom("cve_suppressions").selectAll().where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]));
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    deviceExists: async (tenantId, deviceId) =>
      (await reads.selectFrom("devices").select("id").where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst()) !== undefined,
    all: (handle, tenantId, now) => current(handle, tenantId, now).orderBy("id").execute(),
    byId: async (handle, tenantId, id, now) => (await current(handle, tenantId, now).where("id", "=", id).executeTakeFirst()) ?? null,
    async add(trx, row) {
      await trx.insertInto("cve_suppressions").values(row).execute();
    },
    async update(trx, id, change) {
      await trx.updateTable("cve_suppressions").set(change).where("id", "=", id).execute();
    },
    async remove(trx, id) {
      await trx.deleteFrom("cve_suppressions").where("id", "=", id).execute();
    },
  };
}
