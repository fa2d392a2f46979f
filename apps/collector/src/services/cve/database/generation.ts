import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { currentFile, nextFile } from "./files.ts";
import { createIndexes, createSchema, isOurs } from "./rows/schema.ts";

/** How much is in a generation. */
export interface GenerationCounts {
  /** Without rejected ones. */
  readonly cves: number;
  /** Of those: with statements of what is affected. */
  readonly configured: number;
}

/** The next generation, while it is built. */
export interface NextGeneration {
  readonly db: Sqlite.Database;
  readonly number: number;
  /** Whether it began empty: its search index is built when all is written. */
  readonly isFresh: boolean;
  /** Of the one it follows; null where there is none. */
  readonly last: GenerationCounts | null;
  /**
   * Ends the writing.
   * @param options.acceptsDrop What it has is enough, also where generations before had more.
   * @returns What is in it now.
   * @throws Error naming what is wrong with the file.
   */
  finish(now: number, options: { readonly acceptsDrop: boolean }): GenerationCounts;
  close(): void;
}

const CACHE_KIBIBYTES = 65_536;
/** Where there is nothing to order by, EPSS stands before CVSS and known exploitation before both. */
const RISK = "exists (select 1 from kev where kev.key = cves.key) * 1000000000 "
  + "+ cast(round(coalesce((select epss.score from epss where epss.key = cves.key), 0) * 100000) as integer) * 1000 "
  + "+ cast(round(coalesce(score, 0) * 10) as integer)";

/**
 * Begins the next generation in the folder: a copy of the current one, or an empty one where there is none that this version reads. For who
 * holds the lock.
 */
export function beginGeneration(directory: string): NextGeneration {
  const [current, next] = [currentFile(directory), nextFile(directory)];
  const before = readCurrent(current);
  if (before) copyFileSync(current, next, constants.COPYFILE_FICLONE);
  const db = new Sqlite(next);
  // What is half written is thrown away whole, so nothing is undone, and nothing needs to be on the disk before the end.
  db.pragma("journal_mode = off");
  db.pragma("synchronous = off");
  db.pragma("locking_mode = exclusive");
  db.pragma("temp_store = memory");
  db.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
  if (!before) createSchema(db);
  db.exec("begin");
  const number = (before?.number ?? 0) + 1;
  const isFresh = before === null;
  return {
    db, number, isFresh, last: before?.counts ?? null,
    finish(now, { acceptsDrop }) {
      if (isFresh) {
        db.exec("insert into search (rowid, description) select key, description from bodies where key in (select key from cves where is_rejected = 0)");
        db.exec("insert into search (search) values ('optimize')");
      }
      createIndexes(db);
      db.exec(`update cves set risk = ${RISK} where risk <> ${RISK}`);
      const counts = countCves(db);
      const mostConfigured = Math.max(counts.configured, acceptsDrop ? 0 : readFact(db, "most_configured") ?? 0);
      const put = db.prepare("insert into facts (name, value) values (?, ?) on conflict (name) do update set value = excluded.value");
      for (const [name, value] of Object.entries({ generation: number, built_at: now, ...counts, most_configured: mostConfigured })) put.run(name, String(value));
      // Generations of one lineage follow each other; a database that was begun afresh has another.
      db.prepare("insert into facts (name, value) values ('lineage', ?) on conflict do nothing").run(randomUUID());
      db.exec("commit");
      const fault = db.pragma("quick_check(1)", { simple: true });
      if (fault !== "ok") throw new Error(`the database that was built is damaged: ${String(fault)}`);
      return counts;
    },
    close: () => db.close(),
  };
}

/** A fact that a generation holds of itself; null where it is missing. */
export function readFact(db: Sqlite.Database, name: string): number | null {
  const value = db.prepare<[string], string>("select value from facts where name = ?").pluck().get(name);
  return value === undefined ? null : Number(value);
}

/** What generations that follow each other have in common; empty where an older version built it. */
export function readLineage(db: Sqlite.Database): string {
  return db.prepare<[], string>("select value from facts where name = 'lineage'").pluck().get() ?? "";
}

function countCves(db: Sqlite.Database): GenerationCounts {
  const counts = db.prepare<[], GenerationCounts>(
    "select count(*) as cves, coalesce(sum(has_statements), 0) as configured from cves where is_rejected = 0",
  );
  return counts.get() ?? { cves: 0, configured: 0 };
}

function readCurrent(file: string): { readonly number: number; readonly counts: GenerationCounts } | null {
  if (!existsSync(file)) return null;
  let db: Sqlite.Database | undefined;
  try {
    db = new Sqlite(file, { readonly: true, fileMustExist: true });
    if (!isOurs(db)) return null;
    const [number, cves, configured] = [readFact(db, "generation"), readFact(db, "cves"), readFact(db, "configured")];
    return number === null || cves === null || configured === null ? null : { number, counts: { cves, configured } };
  } catch {
    // A file that cannot be read is replaced by a new one.
    return null;
  } finally {
    db?.close();
  }
}
