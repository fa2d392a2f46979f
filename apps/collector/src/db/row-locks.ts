import { type Kysely, PostgresAdapter } from "kysely";

/** Whether this handle writes PostgreSQL's SQL; false means SQLite. It sends no query. */
export function isPostgres<T>(db: Kysely<T>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Whether `for update` means something: SQLite has one writer at a time, and so neither the words nor the need. */
export function hasRowLocks<T>(db: Kysely<T>): boolean {
  return isPostgres(db);
}
