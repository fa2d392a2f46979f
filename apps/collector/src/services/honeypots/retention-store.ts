import { nextTurn } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { selectIn } from "../../db/query/select-in.ts";
import type { Schema } from "../../db/schema.ts";

/** What is kept of decoys for a time, and by which moment of it. */
const DATED = [["honeypot_sessions", "last_at"], ["honeypot_credentials", "tried_at"], ["honeypot_evidence", "recorded_at"]] as const;
const AT_ONCE = 500;

/**
 * Forgets sessions in which nothing was reported since then, and credentials and evidence from before, some hundreds at once.
 * @param before An instant. @returns How many.
 */
export async function forgetOld({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }, before: string, stopped: AbortSignal): Promise<number> {
  let total = 0;
  for (const [table, column] of DATED) {
    for (let gone = AT_ONCE; gone === AT_ONCE && !stopped.aborted; total += gone) {
      const ids = await reads.selectFrom(table).select("id").where(column, "<", before).orderBy("id").limit(AT_ONCE).execute();
      await selectIn(ids.map(({ id }) => id), async (list) => {
        await db.deleteFrom(table).where("id", "in", list).execute();
        return [];
      });
      gone = ids.length;
      await nextTurn();
    }
  }
  return total;
}
