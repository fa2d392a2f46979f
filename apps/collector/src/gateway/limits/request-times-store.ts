import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";

type Trx = Transaction<Schema>;

/** When a caller has asked, in milliseconds since the epoch. Its row is held until the end of the transaction. */
export async function holdTimes(trx: Trx, caller: string, now: number): Promise<readonly number[]> {
  // The row is written before it is read: of two requests at once, the second waits here for the first.
  const { times } = await trx.insertInto("request_times").values({ caller, times: "[]", updated_at: now })
    .onConflict((conflict) => conflict.column("caller").doUpdateSet({ updated_at: now })).returning("times").executeTakeFirstOrThrow();
  return JSON.parse(times) as number[];
}

/** Sets when a caller has asked. */
export async function setTimes(trx: Trx, caller: string, times: readonly number[]): Promise<void> {
  await trx.updateTable("request_times").set({ times: JSON.stringify(times) }).where("caller", "=", caller).execute();
}

/** Forgets callers that have not asked since `before`. */
export async function forgetTimes(db: Kysely<Schema>, before: number): Promise<void> {
  await db.deleteFrom("request_times").where("updated_at", "<", before).execute();
}
