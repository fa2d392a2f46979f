import { toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";

type Row = Pick<Schema["webhook_deliveries"], "id" | "lane" | "created_at">;

/** What the sweep of deliveries reads and forgets. */
export interface SweepStore {
  /** Whether the webhook is there, or deleted. */
  exists(webhookId: string): Promise<boolean>;
  /** The newest delivery of a webhook that is one too many, where `keep` are kept; null where there are not so many. */
  newestBeyond(webhookId: string, keep: number): Promise<string | null>;
  /** A webhook's deliveries from the oldest on. @param after The last one read before; empty for the first. */
  from(webhookId: string, after: string, limit: number): Promise<readonly Row[]>;
  /** The next webhook, by its id, that has deliveries; null after the last. */
  nextWebhook(after: string): Promise<string | null>;
  /** Deletes deliveries, and fails others, which still wait. */
  forget(webhookId: string, rows: { readonly gone: readonly string[]; readonly overflowing: readonly string[] }): Promise<void>;
  /** Deletes notices that are done. @param before Milliseconds since the epoch. */
  forgetNotices(before: number): Promise<void>;
}

/** @param deps.reads Sees what is committed. */
export function createSweepStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): SweepStore {
  return {
    exists: async (webhookId) => (await reads.selectFrom("webhooks").select("id").where("id", "=", webhookId).executeTakeFirst()) !== undefined,
    async newestBeyond(webhookId, keep) {
      const row = await reads.selectFrom("webhook_deliveries").select("id").where("webhook_id", "=", webhookId).orderBy("id", "desc")
        .offset(keep).limit(1).executeTakeFirst();
      return row?.id ?? null;
    },
    from: (webhookId, after, limit) => reads.selectFrom("webhook_deliveries").select(["id", "lane", "created_at"])
      .where("webhook_id", "=", webhookId).where("id", ">", after).orderBy("id").limit(limit).execute(),
    async nextWebhook(after) {
      // From one webhook to the next by the key, instead of reading every delivery for its webhook.
      const row = await reads.selectFrom("webhook_deliveries").select("webhook_id").where("webhook_id", ">", after).orderBy("webhook_id")
        .limit(1).executeTakeFirst();
      return row?.webhook_id ?? null;
    },
    forget: (webhookId, { gone, overflowing }) => db.transaction().execute(async (trx) => {
      if (gone.length > 0) await trx.deleteFrom("webhook_deliveries").where("webhook_id", "=", webhookId).where("id", "in", gone).execute();
      if (overflowing.length === 0) return;
      await trx.updateTable("webhook_deliveries")
        .set({ status: "failed", lane: null, retry_at: null, error: "overflow: too many deliveries wait for this webhook" })
        .where("webhook_id", "=", webhookId).where("id", "in", overflowing).execute();
    }),
    async forgetNotices(before) {
      await db.deleteFrom("webhook_notices").where("created_at", "<", toInstant(before)).where("status", "!=", "pending").execute();
    },
  };
}
