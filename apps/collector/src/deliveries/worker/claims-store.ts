import type { Kysely } from "kysely";
import { hasRowLocks } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import type { WebhookRow } from "../store.ts";

/**
 * Which process sends to which webhook: one at a time, so that the order is kept and no delivery is sent twice. A claim lasts
 * until it is given back or its holder is dead; that shows in a counter that stands still, not in a clock, which
 * may jump.
 */
export interface Claims {
  register(workerId: string): Promise<void>;
  /** @returns False when others have taken this worker for dead: its claims are gone. */
  beat(workerId: string): Promise<boolean>;
  workers(): Promise<readonly { readonly id: string; readonly beats: number }[]>;
  /** Takes workers for dead, and frees what they had claimed. */
  bury(workerIds: readonly string[]): Promise<void>;
  /** Takes at most `limit` active webhooks that nobody has, of those named. */
  claim(workerId: string, webhookIds: readonly string[], limit: number): Promise<readonly WebhookRow[]>;
  release(workerId: string, webhookIds: readonly string[]): Promise<void>;
}

/** Claims are rows in the database, so all processes see them. Deleting a worker frees its webhooks in the same transaction. */
export function createClaims({ db }: { readonly db: Kysely<Schema> }): Claims {
  const touch = async (handle: Kysely<Schema>, workerId: string): Promise<boolean> => {
    const row = await handle.updateTable("delivery_workers").set((eb) => ({ beats: eb("beats", "+", 1) })).where("id", "=", workerId)
      .returning("id").executeTakeFirst();
    return row !== undefined;
  };
  return {
    async register(workerId) {
      await db.insertInto("delivery_workers").values({ id: workerId, beats: 0 }).execute();
    },
    beat: (workerId) => touch(db, workerId),
    workers: () => db.selectFrom("delivery_workers").select(["id", "beats"]).execute(),
    async bury(workerIds) {
      if (workerIds.length === 0) return;
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom("delivery_workers").where("id", "in", workerIds).execute();
        await trx.updateTable("webhooks").set({ worker_id: null }).where("worker_id", "in", workerIds).execute();
      });
    },
    claim: (workerId, webhookIds, limit) => db.transaction().execute(async (trx) => {
      // Its row is locked by this: who is being taken for dead claims nothing that nobody would free again.
      if (!(await touch(trx, workerId))) return [];
      const free = trx.selectFrom("webhooks").select("id").where("id", "in", webhookIds).where("worker_id", "is", null)
        .where("active", "=", 1).orderBy("id").limit(limit);
      const ids = (await (hasRowLocks(trx) ? free.forUpdate().skipLocked() : free).execute()).map(({ id }) => id);
      if (ids.length === 0) return [];
      return trx.updateTable("webhooks").set({ worker_id: workerId }).where("id", "in", ids).returningAll().execute();
    }),
    async release(workerId, webhookIds) {
      if (webhookIds.length === 0) return;
      await db.updateTable("webhooks").set({ worker_id: null }).where("worker_id", "=", workerId).where("id", "in", webhookIds).execute();
    },
  };
}
