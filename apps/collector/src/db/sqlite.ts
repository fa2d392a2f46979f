import { closeSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { Kysely } from "kysely";
import { CollectorError } from "../errors.ts";
import { createCheckpoints, SHORT_LOG_BYTES } from "./checkpoints/checkpoints.ts";
import type { Database, Prepare } from "./handles.ts";
import type { Schema } from "./schema.ts";
import { dialectOf } from "./query/statements.ts";

/** SQLite's own 2 MB hold a hundredth of a large network's devices; most of a list's time was reading the same pages again. */
const CACHE_KIBIBYTES = 32_768;

/** How long to wait for another process (a backup, a person with `sqlite3`) that holds the write lock. */
const BUSY_TIMEOUT_MS = 5000;

/** 64 MB of the write-ahead log: a commit folds it into the file only where the thread that does it has failed. */
const LOG_PAGES = 16_000;

/**
 * One connection that writes and one that reads.
 *
 * `synchronous = FULL`: what was acknowledged to a probe is deleted there, so a commit must be on the disk when it returns.
 * @throws CollectorError `database-unreadable` for a file that is none of ours or cannot be opened.
 */
export async function openSqlite(file: string, prepare: Prepare): Promise<Database> {
  const checkpoints = createCheckpoints(file);
  const db = new Kysely<Schema>({ dialect: dialectOf(connect(file), checkpoints) });
  try {
    await prepare(db);
  } catch (error) {
    await checkpoints.close();
    await db.destroy();
    throw error;
  }
  const reader = new Sqlite(file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  reader.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
  const reads = new Kysely<Schema>({ dialect: dialectOf(reader) });
  return {
    db,
    reads,
    advice: null,
    async close() {
      await checkpoints.close();
      await reads.destroy();
      // Kysely closes no connection that it never used.
      reader.close();
      // The last to close folds the write-ahead log into the file, and a reader is not allowed to.
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
      connection.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
      connection.pragma(`journal_size_limit = ${SHORT_LOG_BYTES}`);
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
