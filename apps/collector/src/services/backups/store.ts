import type { Kysely, Selectable, Transaction } from "kysely";
import { isDuplicate } from "../../db/constraints.ts";
import { inTurn } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import type { Rows } from "../../gateway/page.ts";

/** A backup as stored. `running_key` is unique and set only while it runs: so one runs at a time. Sizes are in bytes. */
export type BackupRow = Selectable<Schema["backups"]>;

/** Rows of backups. Files are not touched here. */
export interface BackupsStore {
  /** Newest first. */
  list(tenantId: string, status: readonly string[] | undefined, rows: Rows): Promise<readonly BackupRow[]>;
  count(tenantId: string, status: readonly string[] | undefined): Promise<number>;
  byId(tenantId: string, id: string): Promise<BackupRow | null>;
  running(): Promise<readonly BackupRow[]>;
  /** Those that a schedule has kept beyond `keep`, oldest last. */
  surplus(tenantId: string, keep: number): Promise<readonly BackupRow[]>;
  /** The tenant whose word is the operator's: the one that the first start made. Null before it. */
  firstTenant(): Promise<string | null>;
  tenantExists(tenantId: string): Promise<boolean>;
  /** When the latest scheduled one was begun. */
  latestScheduled(from: Kysely<Schema>, tenantId: string): Promise<string | null>;
  /**
   * Adds one that is running, unless another is, or `unless` says that it is not to be. Nobody else begins one meanwhile.
   * @returns Whether it was added.
   */
  add(
    row: BackupRow,
    options: {
      readonly unless?: (trx: Transaction<Schema>) => Promise<boolean>; readonly also?: (trx: Transaction<Schema>) => Promise<void>;
    },
  ): Promise<boolean>;
  set(trx: Transaction<Schema>, id: string, columns: Partial<BackupRow>): Promise<void>;
  /** Whether it is being made. */
  isRunning(trx: Transaction<Schema>, id: string): Promise<boolean>;
  /** Sets columns of one that is not being verified. @returns False where it is. */
  beginVerification(trx: Transaction<Schema>, id: string, columns: Partial<BackupRow>): Promise<boolean>;
  /** @returns False where it is being made, or not there. */
  remove(trx: Transaction<Schema>, id: string): Promise<boolean>;
  heard(id: string, at: string): Promise<void>;
  /** Verifications that began at `before` or earlier, of other backups than these. */
  forgetVerifications(except: readonly string[], before: string): Promise<void>;
  transaction<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>;
}

/** Lists read committed rows; what decides whether a backup may begin or end reads on the write connection. */
export function createBackupsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): BackupsStore {
  const own = (tenantId: string, status: readonly string[] | undefined) => {
    const query = reads.selectFrom("backups").where("tenant_id", "=", tenantId);
    return status ? query.where("status", "in", status) : query;
  };
  return {
    list(tenantId, status, { from, limit }) {
      const query = own(tenantId, status).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },
    async count(tenantId, status) {
      return (await own(tenantId, status).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },
    async byId(tenantId, id) {
      return (await own(tenantId, undefined).selectAll().where("id", "=", id).executeTakeFirst()) ?? null;
    },
    running: () => db.selectFrom("backups").selectAll().where("running_key", "is not", null).execute(),
    surplus: (tenantId, keep) => db.selectFrom("backups").selectAll().where("tenant_id", "=", tenantId).where("trigger", "=", "scheduled")
      .where("status", "=", "completed").orderBy("id", "desc").limit(100).offset(keep).execute(),
    async firstTenant() {
      return (await reads.selectFrom("tenants").select("id").orderBy("id").limit(1).executeTakeFirst())?.id ?? null;
    },
    async tenantExists(tenantId) {
      return (await reads.selectFrom("tenants").select("id").where("id", "=", tenantId).executeTakeFirst()) !== undefined;
    },
    async latestScheduled(from, tenantId) {
      const row = await from.selectFrom("backups").select("created_at").where("tenant_id", "=", tenantId).where("trigger", "=", "scheduled")
        .orderBy("id", "desc").limit(1).executeTakeFirst();
      return row?.created_at ?? null;
    },
    async add(row, { unless, also }) {
      try {
        return await inTurn(db, row.tenant_id, async (trx) => {
          if ((await unless?.(trx)) === true) return false;
          await trx.insertInto("backups").values(row).execute();
          await also?.(trx);
          return true;
        });
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async set(trx, id, columns) {
      await trx.updateTable("backups").set(columns).where("id", "=", id).execute();
    },
    async isRunning(trx, id) {
      const row = await trx.selectFrom("backups").select("id").where("id", "=", id).where("running_key", "is not", null).executeTakeFirst();
      return row !== undefined;
    },
    async beginVerification(trx, id, columns) {
      const { numUpdatedRows } = await trx.updateTable("backups").set(columns).where("id", "=", id)
        .where((eb) => eb.or([eb("verify_status", "is", null), eb("verify_status", "<>", "running")])).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async remove(trx, id) {
      const { numDeletedRows } = await trx.deleteFrom("backups").where("id", "=", id).where("running_key", "is", null).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async heard(id, at) {
      await db.updateTable("backups").set({ heard_at: at }).where("id", "=", id).where("running_key", "is not", null).execute();
    },
    async forgetVerifications(except, before) {
      const old = db.updateTable("backups").set({ verify_status: null, verify_method: null, verified_at: null })
        .where("verify_status", "=", "running").where("verified_at", "<=", before);
      await (except.length === 0 ? old : old.where("id", "not in", except)).execute();
    },
    transaction: (work) => db.transaction().execute(async (trx) => work(trx)),
  };
}
