import type { Kysely, Transaction } from "kysely";
import { inTurn } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import type { AlertRow } from "./reaction/store.ts";

type Trx = Transaction<Schema>;

/** What ends alerts: by the clock, or with their probe. Instants are RFC 3339 in UTC. */
export interface AlertMaintenanceStore {
  /** Holds the tenant's row until `work` has ended, so that no event changes its alerts meanwhile. */
  inTurn<R>(tenantId: string, work: (trx: Trx) => Promise<R>): Promise<R>;
  /** Resolves those of `ids` that are not resolved yet. @returns Them, as they then are. */
  resolve(trx: Trx, ids: readonly string[], by: { readonly by: string; readonly at: string }): Promise<readonly AlertRow[]>;
  /** A tenant of which an alert fell quiet by `now`; null where there is none. */
  tenantWithQuiet(now: string): Promise<string | null>;
  /** Alerts that fell quiet by `now`, longest first, with since when their probe is silent; null where it is there, was revoked or deleted. */
  quiet(trx: Trx, tenantId: string, now: string, limit: number): Promise<readonly { readonly id: string; readonly silentSince: string | null }[]>;
  /** They fall quiet at `quietAt` and no sooner. */
  postpone(trx: Trx, ids: readonly string[], quietAt: string): Promise<void>;
  forgetMutes(now: string): Promise<void>;
  /** Forgets alerts that were resolved before `before`. @returns How many, at most `limit`. */
  forgetResolved(before: string, limit: number): Promise<number>;
  /** Sites with more resolved alerts than `most`, each with when the first of those beyond was resolved: that and the ones before are too many. */
  crowded(most: number): Promise<readonly { readonly siteId: string; readonly until: string }[]>;
  /** Forgets alerts of a site that were resolved by `until`. @returns How many, at most `limit`. */
  forgetOfSite(siteId: string, until: string, limit: number): Promise<number>;
  /** What a probe's own state has raised and is not resolved. */
  openOfProbe(probeId: string): Promise<readonly Pick<AlertRow, "id" | "tenant_id">[]>;
}

/** Over the collector's database. */
export function createAlertMaintenanceStore({ db }: { readonly db: Kysely<Schema> }): AlertMaintenanceStore {
  return {
    inTurn: (tenantId, work) => inTurn(db, tenantId, work),
    resolve: (trx, ids, { by, at }) => trx.updateTable("alerts")
      .set({ status: "resolved", open_key: null, quiet_at: null, resolved_by: by, resolved_at: at })
      .where("id", "in", ids).where("status", "<>", "resolved").returningAll().execute(),
    async tenantWithQuiet(now) {
      const due = await db.selectFrom("alerts").select("tenant_id").where("quiet_at", "<=", now).limit(1).executeTakeFirst();
      return due?.tenant_id ?? null;
    },
    quiet: (trx, tenantId, now, limit) => trx.selectFrom("alerts")
      .leftJoin("probes", (join) => join.onRef("probes.id", "=", "alerts.probe_id").on("probes.revoked_at", "is", null).on("probes.state", "=", "silent"))
      .select(["alerts.id", "probes.silent_since as silentSince"]).where("alerts.tenant_id", "=", tenantId)
      .where("alerts.quiet_at", "<=", now).orderBy("alerts.quiet_at").limit(limit).execute(),
    async postpone(trx, ids, quietAt) {
      if (ids.length > 0) await trx.updateTable("alerts").set({ quiet_at: quietAt }).where("id", "in", ids).execute();
    },
    async forgetMutes(now) {
      await db.deleteFrom("alert_mutes").where("expires_at", "<=", now).execute();
    },
    async forgetResolved(before, limit) {
      const old = await db.selectFrom("alerts").select("id").where("status", "=", "resolved").where("resolved_at", "<", before)
        .limit(limit).execute();
      if (old.length > 0) await db.deleteFrom("alerts").where("id", "in", old.map(({ id }) => id)).execute();
      return old.length;
    },
    async crowded(most) {
      const sites = await db.selectFrom("alerts").select("site_id").where("status", "=", "resolved").where("site_id", "is not", null)
        .groupBy("site_id").having((eb) => eb.fn.countAll<number>(), ">", most).execute();
      const found: { readonly siteId: string; readonly until: string }[] = [];
      for (const { site_id: siteId } of sites) {
        const first = await db.selectFrom("alerts").select("resolved_at").where("site_id", "=", siteId).where("status", "=", "resolved")
          .orderBy("resolved_at", "desc").offset(most).limit(1).executeTakeFirst();
        if (siteId !== null && first?.resolved_at) found.push({ siteId, until: first.resolved_at });
      }
      return found;
    },
    async forgetOfSite(siteId, until, limit) {
      const old = await db.selectFrom("alerts").select("id").where("site_id", "=", siteId).where("status", "=", "resolved")
        .where("resolved_at", "<=", until).limit(limit).execute();
      if (old.length > 0) await db.deleteFrom("alerts").where("id", "in", old.map(({ id }) => id)).execute();
      return old.length;
    },
    openOfProbe: (probeId) => db.selectFrom("alerts").select(["id", "tenant_id"]).where("probe_id", "=", probeId)
      .where("source", "=", "health").where("status", "<>", "resolved").execute(),
  };
}
