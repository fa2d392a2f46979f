import type Sqlite from "better-sqlite3";
import type { SqliteDatabase, SqliteStatement } from "kysely";

/** Statements kept prepared. The collector's own queries are some dozens of texts; lists with filters make some hundreds. */
const KEPT_STATEMENTS = 500;

/**
 * A connection as Kysely's dialect wants it, except that statements stay prepared: the dialect prepares at every call,
 * which took more time than running the statement. `begin` becomes `begin immediate`: a transaction that reads first and
 * writes later would otherwise fail outright when another process has written in between.
 */
export function keepStatements(connection: Sqlite.Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close() {
      kept.clear();
      connection.close();
    },
    prepare(sql) {
      const text = sql === "begin" ? "begin immediate" : sql;
      const known = kept.get(text);
      if (known) {
        // Moved to the end: the first of a Map is then the one least lately used.
        kept.delete(text);
        kept.set(text, known);
        return known;
      }
      const prepared = statement(connection, text);
      kept.set(text, prepared);
      if (kept.size > KEPT_STATEMENTS) kept.delete(kept.keys().next().value as string);
      return prepared;
    },
  };
}

function statement(connection: Sqlite.Database, text: string): SqliteStatement {
  const prepared = connection.prepare<unknown[]>(text);
  return {
    reader: prepared.reader,
    all: (parameters) => prepared.all(...parameters),
    run: (parameters) => prepared.run(...parameters),
    // One statement cannot be walked twice at once, so a walk gets its own.
    iterate: (parameters) => connection.prepare<unknown[]>(text).iterate(...parameters),
  };
}
