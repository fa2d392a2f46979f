import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/** Forgets merges made before an instant. Those that were undone stay. @returns How many went. */
export async function forgetOldMerges(db: Kysely<Schema>, before: string): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom("device_merges").where("at", "<", before).where("undone_at", "is", null).executeTakeFirst();
  return Number(numDeletedRows);
}

/** The ids of devices with more than `keep` merges that can be undone. */
export async function devicesOfManyMerges(reads: Kysely<Schema>, keep: number): Promise<readonly string[]> {
  const rows = await reads.selectFrom("device_merges").select("kept_id").where("undone_at", "is", null).groupBy("kept_id")
    .having((eb) => eb.fn.countAll(), ">", keep).execute();
  return rows.map(({ kept_id: id }) => id);
}

/** Forgets, of a device's merges that can be undone, all but the newest `keep`. @returns How many went. */
export async function forgetMergesBeyond(
  { db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }, deviceId: string, keep: number,
): Promise<number> {
  const beyond = await reads.selectFrom("device_merges").select("id").where("kept_id", "=", deviceId).where("undone_at", "is", null)
    .orderBy("id", "desc").offset(keep).limit(1).executeTakeFirst();
  if (!beyond) return 0;
  const { numDeletedRows } = await db.deleteFrom("device_merges").where("kept_id", "=", deviceId).where("undone_at", "is", null)
    .where("id", "<=", beyond.id).executeTakeFirst();
  return Number(numDeletedRows);
}
