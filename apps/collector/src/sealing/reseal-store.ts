import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { SEALED_COLUMNS } from "./sealed-columns.ts";
import type { Sealing } from "./sealing.ts";

type Rows = Record<string, Record<string, string | null>>;

/** In one transaction, in which ingest waits: some of the rows are configurations of half a megabyte. */
const AT_ONCE = 20;

/**
 * Seals everything anew, with the key that comes first by now. What somebody changes meanwhile is theirs: they have the new
 * key already. It can be called again after whatever ended it.
 * @returns How many secrets.
 * @throws CollectorError `secret-unreadable` for one that none of the keys opens; those before it are done.
 */
export async function resealAll(db: Kysely<Schema>, sealing: Sealing): Promise<number> {
  const tables = db as unknown as Kysely<Rows>;
  let count = 0;
  for (const { table, column, owner } of SEALED_COLUMNS) {
    for (let after = ""; ; ) {
      const rows = await tables.selectFrom(table).select(["id", column]).where("id", ">", after).where(column, "is not", null).orderBy("id")
        .limit(AT_ONCE).execute();
      const last = rows.at(-1);
      if (!last) break;
      after = last["id"] ?? "";
      await tables.transaction().execute(async (trx) => {
        for (const row of rows) {
          const [id, sealed] = [row["id"] ?? "", row[column] ?? ""];
          const anew = sealing.seal(sealing.open(sealed, owner(id)), owner(id));
          await trx.updateTable(table).set({ [column]: anew }).where("id", "=", id).where(column, "=", sealed).execute();
        }
      });
      count += rows.length;
    }
  }
  return count;
}
