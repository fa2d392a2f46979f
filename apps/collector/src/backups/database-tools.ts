import type { DatabaseCopy, Engine } from "./manifest.ts";
import { checkSqlite, copySqlite } from "./sqlite-copy.ts";

/** What is done with the database of a backup, each kind in its way. */
export interface DatabaseTools {
  readonly engine: Engine;
  /** Copies the running database into a file that is not there yet. */
  copy(to: string): Promise<DatabaseCopy>;
  /**
   * Brings a copy up where it disturbs nobody, reads all of it and counts its rows.
   * @throws CollectorError `backup-unreadable` for what is damaged.
   */
  check(file: string): Promise<DatabaseCopy>;
}

/** @param file The running database. */
export function createSqliteTools(file: string): DatabaseTools {
  return { engine: "sqlite", copy: (to) => copySqlite(file, to), check: async (copy) => checkSqlite(copy) };
}
