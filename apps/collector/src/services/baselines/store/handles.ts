import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import { markAllDue } from "./baselines.ts";

/** A handle to read by: the database's, or that of an open transaction, which sees its own writes. */
export type From = Kysely<Schema>;
/** An open transaction. */
export type Trx = Transaction<Schema>;

/** A change that is being made. */
export interface Change {
  readonly trx: Trx;
  /** It concerns all baselines of a site, or of the tenant where that is null: they are compared soon. @param at Now. */
  readonly concernsAll: (siteId: string | null, at: string) => void;
}

/** How people's changes of baselines reach the database. */
export interface BaselinesStore {
  readonly reads: From;
  /**
   * Runs `work` in a transaction that holds the tenant first, as the comparison does: neither waits for the other's rows. Baselines that the
   * change concerns are marked when it is committed.
   */
  change<T>(tenantId: string, work: (trx: Trx, concernsAll: Change["concernsAll"]) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
}

/** Over the collector's database. */
export function createBaselinesStore({ db, reads }: { readonly db: From; readonly reads: From }): BaselinesStore {
  return {
    reads,
    async change(tenantId, work) {
      const due: (readonly [siteId: string | null, at: string])[] = [];
      const done = await inTurn(db, tenantId, (trx) => work(trx, (siteId, at) => due.push([siteId, at])));
      for (const [siteId, at] of due) await markAllDue(db, { tenantId, siteId }, at);
      return done;
    },
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
  };
}
