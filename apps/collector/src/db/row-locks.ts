import { type Kysely, PostgresAdapter } from "kysely";
import type { Schema } from "./schema.ts";

/** Whether `for update` means something: SQLite has one writer at a time, and so neither the words nor the need. */
export function hasRowLocks(db: Kysely<Schema>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
