import { type Kysely, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** Resolves when both connections have answered. @throws What the database or the way to it says. */
export async function databaseAnswers({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): Promise<void> {
  await Promise.all([sql`select 1`.execute(db), sql`select 1`.execute(reads)]);
}
