import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";

/** Who holds a lease, and how often its holder has counted it up. */
export interface LeaseRow {
  readonly holder: string;
  readonly beats: number;
}

/** The rows of `leases`. */
export interface LeaseStore {
  read(name: string): Promise<LeaseRow | undefined>;
  /** Makes a lease that is not there. @returns False where another replica has made it. */
  add(name: string, holder: string): Promise<boolean>;
  /** Counts it up, as its holder from now on. @returns False where it is not as `row` says any more. */
  take(name: string, holder: string, row: LeaseRow): Promise<boolean>;
  remove(name: string, holder: string): Promise<void>;
}

/** Over the collector's database. */
export function createLeaseStore(db: Kysely<Schema>): LeaseStore {
  return {
    read: (name) => db.selectFrom("leases").select(["holder", "beats"]).where("name", "=", name).executeTakeFirst(),
    async add(name, holder) {
      const inserted = await db.insertInto("leases").values({ name, holder, beats: 0 }).onConflict((conflict) => conflict.doNothing())
        .returning("name").executeTakeFirst();
      return inserted !== undefined;
    },
    async take(name, holder, row) {
      const { numUpdatedRows } = await db.updateTable("leases").set((eb) => ({ holder, beats: eb("beats", "+", 1) }))
        .where("name", "=", name).where("holder", "=", row.holder).where("beats", "=", row.beats).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async remove(name, holder) {
      await db.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
    },
  };
}
