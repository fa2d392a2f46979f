import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { CollectorError } from "../../errors.ts";
import type { RestoreTarget } from "./target.ts";
import { checkSqlite } from "../sqlite-copy.ts";

/** @param databaseFile Absolute; it may be absent, or no database. @throws CollectorError `restore-refused` where somebody has it open. */
export function targetSqlite(databaseFile: string): RestoreTarget {
  const lock = lockDatabase(databaseFile);
  return {
    present: existsSync(databaseFile) ? basename(databaseFile) : null,
    folder: dirname(databaseFile), databaseFile,
    tools: { engine: "sqlite", check: async (copy) => checkSqlite(copy) },
    async prepare(copy, { keepsSecrets }) {
      const database = new Sqlite(copy);
      // The one it was taken by: it is not being made any more, and here it never failed.
      database.exec("delete from backups where running_key is not null");
      if (!keepsSecrets) database.exec("delete from kept_secrets");
      // One file then, with nothing beside it that would have to come along.
      database.pragma("journal_mode = DELETE");
      database.close();
    },
    swap: () => Promise.resolve(null),
    close: async () => void lock?.close(),
  };
}

/**
 * Holds a database so that nobody opens it until this is closed.
 * @returns Null where there is none.
 * @throws CollectorError `restore-refused` where somebody has it open.
 */
function lockDatabase(file: string): Sqlite.Database | null {
  if (!existsSync(file)) return null;
  const connection = new Sqlite(file, { timeout: 0 });
  try {
    // In this mode SQLite takes the whole file for itself, which it cannot while anybody else has it open.
    connection.pragma("locking_mode = EXCLUSIVE");
    connection.pragma("journal_mode = DELETE");
    connection.exec("begin exclusive; commit");
    return connection;
  } catch (cause) {
    connection.close();
    const isBusy = cause instanceof Sqlite.SqliteError && cause.code.startsWith("SQLITE_BUSY");
    if (!isBusy) return null;
    throw new CollectorError(
      "restore-refused", `${file} is in use: stop the collector first (systemctl stop lanthorn-collector)`, { cause },
    );
  }
}
