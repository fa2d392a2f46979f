import { toInstant } from "@lanthorn/runtime";
import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../db/schema.ts";

/** An e-mail about a webhook, and what became of it. */
export type Notice = Selectable<Schema["webhook_notices"]>;

/** What notices of webhooks' failures are kept in. */
export interface NoticesStore {
  /** Those that are due, the oldest first; a hundred at most. @param now Milliseconds since the epoch. */
  due(now: number): Promise<readonly Notice[]>;
  /** Puts a notice off, so that no other process sends it meanwhile. @returns False where another one did so first. */
  hold(notice: Notice, until: number): Promise<boolean>;
  /** Sets how a notice is now. What is left out is null. */
  set(notice: Notice, values: Partial<Pick<Notice, "status" | "attempt" | "next_attempt_at" | "error">>): Promise<void>;
  /** The webhook that it is about, with its tenant's name; null where it was deleted. */
  webhookOf(notice: Notice): Promise<{ readonly id: string; readonly url: string; readonly name: string } | null>;
}

const MAX_DUE = 100;

/** @param deps.db Writes. */
export function createNoticesStore({ db }: { readonly db: Kysely<Schema> }): NoticesStore {
  return {
    due: (now) => db.selectFrom("webhook_notices").selectAll().where("status", "=", "pending")
      .where("next_attempt_at", "<=", toInstant(now)).orderBy("next_attempt_at").limit(MAX_DUE).execute(),
    async hold(notice, until) {
      const { numUpdatedRows } = await db.updateTable("webhook_notices").set({ next_attempt_at: toInstant(until) })
        .where("id", "=", notice.id).where("status", "=", "pending").where("next_attempt_at", "=", notice.next_attempt_at)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
    async set(notice, values) {
      await db.updateTable("webhook_notices").set({ next_attempt_at: null, error: null, ...values }).where("id", "=", notice.id).execute();
    },
    async webhookOf(notice) {
      const row = await db.selectFrom("webhooks").innerJoin("tenants", "tenants.id", "webhooks.tenant_id")
        .select(["webhooks.id", "webhooks.url", "tenants.name"]).where("webhooks.id", "=", notice.webhook_id).executeTakeFirst();
      return row ?? null;
    },
  };
}
