import { closeSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { Kysely, type Migration, Migrator } from "kysely";
import { CollectorError } from "../errors.ts";
import { MIGRATIONS } from "./migrations/table.ts";
import type { Schema } from "./schema.ts";
import { dialectOf } from "./statements.ts";

/** An open database. Both handles are closed by `close`, after everything that uses them. */
export interface Database {
  /** The one connection that writes; whoever holds a transaction on it keeps all others waiting. */
  readonly db: Kysely<Schema>;
  /**
   * A second connection for reading: it sees what is committed, and waits for no transaction. Read long lists by pages:
   * while one query of a connection is streamed, no other can run on it.
   */
  readonly reads: Kysely<Schema>;
  readonly close: () => Promise<void>;
}

/** SQLite's own 2 MB hold a hundredth of a large network's devices; most of a list's time was reading the same pages again. */
const CACHE_KIBIBYTES = 32_768;

/** How long to wait for another process (a backup, a person with `sqlite3`) that holds the write lock. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens the database, made when it is not there, and brings its tables up to this build.
 *
 * `synchronous = FULL`: what was acknowledged to a probe is deleted there, so a commit must be on the disk when it returns.
 * @throws CollectorError `database-unreadable` for a file that is none of ours or cannot be opened; `database-newer` for one
 * that a later build has migrated.
 */
export async function openDatabase(options: {
  readonly file: string;
  readonly migrations?: Readonly<Record<string, Migration>>;
}): Promise<Database> {
  const writer = connect(options.file);
  const db = new Kysely<Schema>({ dialect: dialectOf(writer) });
  try {
    await migrate(db, options.migrations ?? MIGRATIONS, options.file);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const reader = new Sqlite(options.file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  reader.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
  const reads = new Kysely<Schema>({ dialect: dialectOf(reader) });
  return {
    db,
    reads,
    async close() {
      // The last to close folds the write-ahead log into the file, and a reader is not allowed to.
      await reads.destroy();
      await db.destroy();
    },
  };
}

function connect(file: string): Sqlite.Database {
  try {
    // The first to open decides the mode, and SQLite's own files beside it take it over.
    closeSync(openSync(file, "a", 0o600));
    const connection = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      connection.pragma("journal_mode = WAL");
      connection.pragma("synchronous = FULL");
      connection.pragma("foreign_keys = ON");
      connection.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  } catch (cause) {
    throw new CollectorError("database-unreadable", `cannot open the database ${file}`, { cause });
  }
}

async function migrate(db: Kysely<Schema>, migrations: Readonly<Record<string, Migration>>, file: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
  const known = Object.keys(migrations);
  const applied = (await migrator.getMigrations().catch((cause: unknown) => {
    throw new CollectorError("database-unreadable", `cannot read the database ${file}`, { cause });
  })).filter((migration) => migration.executedAt !== undefined);
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName;
  if (failed === undefined && applied.length >= known.length) {
    throw new CollectorError("database-newer", `${file} was written by a newer version: install that one, or restore a backup`, { cause: error });
  }
  throw new CollectorError("database-unreadable", `cannot bring ${file} up to date${failed ? ` (${failed})` : ""}`, { cause: error });
}
