import { nextTurn } from "@lanthorn/runtime";
import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { isPostgres } from "../row-locks.ts";
import type { Schema } from "../schema.ts";

/** Some of a table's ids, which follow each other. */
export interface IdRange {
  /** The one before the first; empty for none. */
  readonly after: string;
  /** The last one; null for all that follow. */
  readonly upTo: string | null;
}

/** Rows read between two turns of the event loop: some milliseconds, however few of them a filter leaves. */
export const ROWS_AT_ONCE = 2000;

/**
 * All ids of a table, whosever they are, in ranges of some thousands, with a turn of the event loop after each: who reads what matches
 * among them reads nothing else. PostgreSQL reads elsewhere, and in one.
 */
export async function* idRanges(reads: Kysely<Schema>, table: "alerts" | "devices"): AsyncGenerator<IdRange> {
  if (isPostgres(reads)) yield { after: "", upTo: null };
  for (let after: string | null = isPostgres(reads) ? null : ""; after !== null;) {
    const last = await reads.selectFrom(table).select("id").where("id", ">", after).orderBy("id").offset(ROWS_AT_ONCE - 1).limit(1).executeTakeFirst();
    const upTo: string | null = last?.id ?? null;
    yield { after, upTo };
    after = upTo;
    await nextTurn();
  }
}

/** That an id is in a range. @param id Its column. */
export function inRange(id: string, { after, upTo }: IdRange): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(id)} > ${after}${upTo === null ? sql`` : sql` and ${sql.ref(id)} <= ${upTo}`}`;
}
