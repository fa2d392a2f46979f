import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import { reviseSite } from "../../db/locks/hold-site.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import type { Schema } from "../../db/schema.ts";

/** An exception as stored. */
export type ExceptionRow = Selectable<Schema["guard_exceptions"]>;
type LearningRow = Insertable<Schema["guard_learning"]>;
type Trx = Transaction<Schema>;

/** A probe of a site with what it last reported, and the last time that it was asked to learn anew. */
export interface GuardedProbe {
  readonly id: string;
  readonly name: string;
  /** As presence has it: `online` while it is heard. */
  readonly presence: string;
  readonly health: string | null;
  readonly asked_at: string | null;
  readonly asked_by: string | null;
  readonly answer_by: string | null;
  readonly status: string | null;
  readonly error: string | null;
}

/** Rows of the guards of sites. Exceptions are those that have not expired at `now`. Methods with `trx` see the transaction's own writes. */
export interface GuardsStore {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Counts the site's configuration up and holds its row until the transaction ends. @returns Whether the tenant has the site. */
  reviseSite(trx: Trx, tenantId: string, siteId: string): Promise<boolean>;
  /** JSON text; null where nothing was set. */
  settings(handle: Trx | null, siteId: string): Promise<string | null>;
  putSettings(trx: Trx, tenantId: string, siteId: string, settings: string): Promise<void>;
  /** In the order in which they were added. */
  exceptions(siteId: string, now: string): Promise<readonly ExceptionRow[]>;
  exception(siteId: string, id: string, now: string): Promise<ExceptionRow | null>;
  countExceptions(handle: Trx | null, siteId: string, now: string): Promise<number>;
  addException(trx: Trx, row: ExceptionRow): Promise<void>;
  /** @returns What was removed; null where there was no such one. */
  removeException(trx: Trx, siteId: string, id: string): Promise<ExceptionRow | null>;
  /** Forgets a site's exceptions that have expired. */
  forgetExpired(trx: Trx, siteId: string, now: string): Promise<void>;
  /** The site's probes that are not revoked, in the order of their enrollment. */
  probes(siteId: string): Promise<readonly GuardedProbe[]>;
  putLearning(trx: Trx, row: LearningRow): Promise<void>;
  /** What became of a command to learn anew; nothing where it was another one. */
  answerLearning(probeId: string, commandId: string, answer: { readonly status: string; readonly error: string | null }): Promise<void>;
}

/** Over the collector's database. */
export function createGuardsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): GuardsStore {
  const current = (handle: Kysely<Schema>, siteId: string, now: string) => handle.selectFrom("guard_exceptions").where("site_id", "=", siteId)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]));
  return {
    transaction: (work) => db.transaction().execute(work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    reviseSite,
    settings: async (handle, siteId) =>
      (await (handle ?? reads).selectFrom("guard_settings").select("settings").where("site_id", "=", siteId).executeTakeFirst())?.settings ?? null,
    async putSettings(trx, tenantId, siteId, settings) {
      await trx.insertInto("guard_settings").values({ site_id: siteId, tenant_id: tenantId, settings })
        .onConflict((conflict) => conflict.column("site_id").doUpdateSet({ settings })).execute();
    },
    exceptions: (siteId, now) => current(reads, siteId, now).selectAll().orderBy("id").execute(),
    exception: async (siteId, id, now) => (await current(reads, siteId, now).selectAll().where("id", "=", id).executeTakeFirst()) ?? null,
    countExceptions: async (handle, siteId, now) =>
      (await current(handle ?? reads, siteId, now).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total,
    async addException(trx, row) {
      await trx.insertInto("guard_exceptions").values(row).execute();
    },
    removeException: async (trx, siteId, id) =>
      (await trx.deleteFrom("guard_exceptions").where("site_id", "=", siteId).where("id", "=", id).returningAll().executeTakeFirst()) ?? null,
    async forgetExpired(trx, siteId, now) {
      await trx.deleteFrom("guard_exceptions").where("site_id", "=", siteId).where("expires_at", "<=", now).execute();
    },
    probes: (siteId) => reads.selectFrom("probes").leftJoin("guard_learning", "guard_learning.probe_id", "probes.id")
      .select(["probes.id", "probes.name", "probes.state as presence", "probes.health", "asked_at", "asked_by", "answer_by", "status", "error"])
      .where("probes.site_id", "=", siteId).where("probes.revoked_at", "is", null).orderBy("probes.id").execute(),
    async putLearning(trx, row) {
      const { probe_id: _, ...change } = row;
      await trx.insertInto("guard_learning").values(row).onConflict((conflict) => conflict.column("probe_id").doUpdateSet(change)).execute();
    },
    async answerLearning(probeId, commandId, answer) {
      await db.updateTable("guard_learning").set(answer).where("probe_id", "=", probeId).where("command_id", "=", commandId).execute();
    },
  };
}
