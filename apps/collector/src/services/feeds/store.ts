import type { Kysely, Selectable, Transaction } from "kysely";
import { isDuplicate } from "../../db/constraints.ts";
import type { Schema } from "../../db/schema.ts";

/** What is known of a feed. */
export type FeedRow = Selectable<Schema["feeds"]>;
/** An update, running or ended. */
export type UpdateRow = Selectable<Schema["feed_updates"]>;
type Trx = Transaction<Schema>;

/** Rows of feeds and their updates. */
export interface FeedsStore {
  list(): Promise<readonly FeedRow[]>;
  /** Adds a row, unless it is there. */
  add(row: FeedRow): Promise<void>;
  set(name: string, columns: Partial<FeedRow>): Promise<void>;
  /** @returns False where something else was reported meanwhile. */
  setReported(trx: Trx, row: Pick<FeedRow, "name" | "reported">, reported: string): Promise<boolean>;
  /** Adds one that is running. @returns False where another is. */
  begin(row: UpdateRow, also?: (trx: Trx) => Promise<void>): Promise<boolean>;
  running(): Promise<UpdateRow | null>;
  /** The latest that the tenant has. */
  latest(tenantId: string): Promise<UpdateRow | null>;
  /** Takes one over whose holder does not count it up any more. @returns False where somebody else did, or it went on. */
  adopt(row: Pick<UpdateRow, "id" | "holder" | "beats">, holder: string): Promise<boolean>;
  /** Says how it is and that its holder lives. @returns False where it is not the holder's any more. */
  beat(id: string, holder: string, columns: Partial<Pick<UpdateRow, "progress">>): Promise<boolean>;
  end(trx: Trx, id: string, columns: Pick<UpdateRow, "status" | "error" | "progress" | "finished_at">): Promise<void>;
  /** Ended ones beyond the newest `keep`. */
  forget(keep: number): Promise<void>;
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
}

/** What decides reads on the write connection, what is shown reads what is committed. */
export function createFeedsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): FeedsStore {
  return {
    list: () => db.selectFrom("feeds").selectAll().execute(),
    async add(row) {
      await db.insertInto("feeds").values(row).onConflict((conflict) => conflict.doNothing()).execute();
    },
    async set(name, columns) {
      await db.updateTable("feeds").set(columns).where("name", "=", name).execute();
    },
    async setReported(trx, { name, reported: before }, reported) {
      const { numUpdatedRows } = await trx.updateTable("feeds").set({ reported }).where("name", "=", name).where("reported", "=", before)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async begin(row, also) {
      try {
        await db.transaction().execute(async (trx) => {
          await trx.insertInto("feed_updates").values(row).execute();
          await also?.(trx);
        });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async running() {
      return (await db.selectFrom("feed_updates").selectAll().where("running_key", "is not", null).executeTakeFirst()) ?? null;
    },
    async latest(tenantId) {
      return (await reads.selectFrom("feed_updates").selectAll().where("tenant_id", "=", tenantId).orderBy("id", "desc").limit(1)
        .executeTakeFirst()) ?? null;
    },
    async adopt({ id, holder: before, beats }, holder) {
      const { numUpdatedRows } = await db.updateTable("feed_updates").set({ holder, beats: beats + 1 }).where("id", "=", id)
        .where("holder", "=", before).where("beats", "=", beats).where("running_key", "is not", null).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async beat(id, holder, columns) {
      const { numUpdatedRows } = await db.updateTable("feed_updates").set((eb) => ({ ...columns, beats: eb("beats", "+", 1) }))
        .where("id", "=", id).where("holder", "=", holder).where("running_key", "is not", null).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async end(trx, id, columns) {
      await trx.updateTable("feed_updates").set({ ...columns, running_key: null }).where("id", "=", id).execute();
    },
    async forget(keep) {
      const kept = await db.selectFrom("feed_updates").select("id").orderBy("id", "desc").limit(1).offset(keep).executeTakeFirst();
      if (kept) await db.deleteFrom("feed_updates").where("id", "<=", kept.id).where("running_key", "is", null).execute();
    },
    transaction: (work) => db.transaction().execute(async (trx) => work(trx)),
  };
}
