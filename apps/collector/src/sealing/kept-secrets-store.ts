import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/** A sealed secret; undefined for none. */
export async function readSealed(db: Kysely<Schema>, id: string): Promise<string | undefined> {
  return (await db.selectFrom("kept_secrets").select("content_sealed").where("id", "=", id).executeTakeFirst())?.content_sealed;
}

/** Keeps a sealed secret, unless there is one. */
export async function addSealed(db: Kysely<Schema>, id: string, sealed: string): Promise<void> {
  await db.insertInto("kept_secrets").values({ id, content_sealed: sealed }).onConflict((conflict) => conflict.doNothing()).execute();
}

/** Puts a sealed secret in the place of the one that is there. @returns False where there is none. */
export async function replaceSealed(db: Kysely<Schema>, id: string, sealed: string): Promise<boolean> {
  const { numUpdatedRows } = await db.updateTable("kept_secrets").set({ content_sealed: sealed }).where("id", "=", id).executeTakeFirst();
  return numUpdatedRows > 0n;
}
