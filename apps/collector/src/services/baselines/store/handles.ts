import type { Kysely, Transaction } from "kysely";
import { lockTenant } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";

/** A handle to read by: the database's, or that of an open transaction, which sees its own writes. */
export type From = Kysely<Schema>;
/** An open transaction. */
export type Trx = Transaction<Schema>;

/** How people's changes of baselines reach the database. */
export interface BaselinesStore {
  readonly reads: From;
  /** Runs `work` in a transaction that holds the tenant first, as the comparison does: neither waits for the other's rows. */
  change<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
}

/** Over the collector's database. */
export function createBaselinesStore({ db, reads }: { readonly db: From; readonly reads: From }): BaselinesStore {
  return {
    reads,
    change: (tenantId, work) => db.transaction().execute(async (trx) => {
      await lockTenant(trx, tenantId);
      return work(trx);
    }),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
  };
}
