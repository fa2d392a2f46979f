import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";

type Trx = Transaction<Schema>;

/** A user's name, hashed, and where somebody tries to be that user. */
export interface LoginPair {
  readonly username_sha256: string;
  readonly address: string;
}

/** When logins of a pair failed, in milliseconds since the epoch. Its row is held until the end of the transaction. */
export async function holdFailures(trx: Trx, pair: LoginPair, at: string): Promise<readonly number[]> {
  // The row is written before it is read: of two attempts at once, the second waits here for the first.
  const { failed_at } = await trx.insertInto("login_failures").values({ ...pair, failed_at: "[]", updated_at: at })
    .onConflict((conflict) => conflict.columns(["username_sha256", "address"]).doUpdateSet({ updated_at: at }))
    .returning("failed_at").executeTakeFirstOrThrow();
  return JSON.parse(failed_at) as number[];
}

/** Sets when logins of a pair failed. */
export async function setFailures(trx: Trx, { username_sha256, address }: LoginPair, failedAt: readonly number[]): Promise<void> {
  await trx.updateTable("login_failures").set({ failed_at: JSON.stringify(failedAt) })
    .where("username_sha256", "=", username_sha256).where("address", "=", address).execute();
}

/** Forgets the failures of a pair; without an address, those of a name from everywhere. */
export async function forgetFailures(trx: Trx, { username_sha256, address }: Partial<LoginPair> & Pick<LoginPair, "username_sha256">): Promise<void> {
  const named = trx.deleteFrom("login_failures").where("username_sha256", "=", username_sha256);
  await (address === undefined ? named : named.where("address", "=", address)).execute();
}
