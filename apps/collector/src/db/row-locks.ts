import { type Kysely, PostgresAdapter } from "kysely";

export function isPostgres<T>(db: Kysely<T>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Whether `for update` means something: SQLite has one writer at a time, and so neither the words nor the need. */
export function hasRowLocks<T>(db: Kysely<T>): boolean {
  return isPostgres(db);
}
