import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { CollectorError } from "../errors.ts";
import type { DatabaseCopy } from "./format/manifest.ts";
import { requireFreeSpace } from "./free-space.ts";
import { unreadable } from "./format/unreadable.ts";

/** Pages copied before others of this process get their turn: some milliseconds. */
const PAGES_AT_ONCE = 1000;
/** Beside the copy: what else is written meanwhile, here and by others. */
const ROOM_BYTES = 64 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Copies a database that others write to. A read transaction holds one moment of it: without that, SQLite begins anew with
 * each write of another process, and under load would never end.
 * @param to A file that is not there yet, in a directory that is.
 * @throws CollectorError `backup-failed` where there is not enough room.
 */
export async function copySqlite(from: string, to: string): Promise<DatabaseCopy> {
  const source = new Sqlite(from, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    source.exec("begin");
    const tables = countTables(source);
    requireFreeSpace(dirname(to), sizeOf(source) + ROOM_BYTES);
    await source.backup(to, { progress: () => PAGES_AT_ONCE });
    return { file: to, engine: "sqlite", migrations: migrationsOf(source), tables };
  } finally {
    source.close();
  }
}

/**
 * Reads a whole database, as SQLite checks it, and counts its rows.
 * @throws CollectorError `backup-unreadable` naming the first thing that is wrong.
 */
export function checkSqlite(file: string): DatabaseCopy {
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(file, { fileMustExist: true });
    const [fault] = database.pragma("integrity_check(1)") as readonly { readonly integrity_check: string }[];
    if (fault?.integrity_check !== "ok") throw unreadable(`its database is damaged: ${fault?.integrity_check ?? "unknown"}`);
    const [orphan] = database.pragma("foreign_key_check") as readonly { readonly table: string; readonly parent: string }[];
    if (orphan) throw unreadable(`its database is damaged: a row of ${orphan.table} refers to no row of ${orphan.parent}`);
    return { file, engine: "sqlite", migrations: migrationsOf(database), tables: countTables(database) };
  } catch (error) {
    if (error instanceof CollectorError) throw error;
    throw unreadable("its database is not valid", error);
  } finally {
    database?.close();
  }
}

function sizeOf(source: Sqlite.Database): number {
  const [pages, pageBytes] = ["page_count", "page_size"].map((name) => source.pragma(name, { simple: true }) as number) as [number, number];
  return pages * pageBytes;
}

function countTables(database: Sqlite.Database): Record<string, number> {
  const names = database.prepare(
    // An index of search is a table to SQLite, and has nothing of its own.
    "select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!' and name not like 'search!_%' escape '!' "
      + "order by name",
  )
    .pluck().all() as string[];
  return Object.fromEntries(names.map((name) =>
    [name, database.prepare(`select count(*) from "${name.replaceAll('"', '""')}"`).pluck().get() as number]));
}

function migrationsOf(database: Sqlite.Database): readonly string[] {
  return database.prepare("select name from kysely_migration order by name").pluck().all() as string[];
}
