import { createHash } from "node:crypto";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { limitGroup } from "../../gateway/address.ts";

/** Counts failed logins for each user and address in the database, so that neither another replica nor a restart forgets them. */
export interface LoginThrottle {
  /**
   * Counts an attempt as failed from its start, so that many at once are no way round the limit.
   * @returns How long this pair must wait instead; 0 when it may try, and then it was counted.
   */
  begin(username: string, address: string): Promise<number>;
  /** The attempt that was begun was right: its pair starts anew. */
  succeeded(trx: Transaction<Schema>, username: string, address: string): Promise<void>;
  /** The user starts anew from everywhere. */
  forget(trx: Transaction<Schema>, username: string): Promise<void>;
}

const FAILURES = 5;
export const LOGIN_WINDOW_MS = 15 * 60_000;
/** Replicas' clocks differ by less; what lies further ahead was written before the clock was set back, and would lock out for as long. */
const CLOCK_DIFFERENCE_MS = 60_000;

export function createLoginThrottle({ db, clock }: { readonly db: Kysely<Schema>; readonly clock: Pick<Clock, "now"> }): LoginThrottle {
  return {
    begin: (username, address) => db.transaction().execute(async (trx) => {
      const now = clock.now();
      const pair = { username_sha256: hashOf(username), address: limitGroup(address) };
      // The row is written before it is read: of two attempts at once, the second waits here for the first.
      const { failed_at } = await trx.insertInto("login_failures").values({ ...pair, failed_at: "[]", updated_at: toInstant(now) })
        .onConflict((conflict) => conflict.columns(["username_sha256", "address"]).doUpdateSet({ updated_at: toInstant(now) }))
        .returning("failed_at").executeTakeFirstOrThrow();
      const recent = (JSON.parse(failed_at) as number[]).filter((at) => at > now - LOGIN_WINDOW_MS && at <= now + CLOCK_DIFFERENCE_MS);
      const blocking = recent.at(-FAILURES);
      if (blocking !== undefined) return Math.max(1, blocking + LOGIN_WINDOW_MS - now);
      await trx.updateTable("login_failures").set({ failed_at: JSON.stringify([...recent, now]) })
        .where("username_sha256", "=", pair.username_sha256).where("address", "=", pair.address).execute();
      return 0;
    }),
    async succeeded(trx, username, address) {
      await trx.deleteFrom("login_failures")
        .where("username_sha256", "=", hashOf(username)).where("address", "=", limitGroup(address)).execute();
    },
    async forget(trx, username) {
      await trx.deleteFrom("login_failures").where("username_sha256", "=", hashOf(username)).execute();
    },
  };
}

/** What is typed as a user name is sometimes a password. A name is one whatever its case, and so are its attempts. */
function hashOf(username: string): string {
  return createHash("sha256").update(username.toLowerCase()).digest("hex");
}
