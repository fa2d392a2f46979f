import { CompiledQuery, type Insertable, type Kysely } from "kysely";
import { isPostgres } from "./row-locks.ts";
import type { Schema } from "./schema.ts";

/** Rows in one statement. Few sizes, so that few texts are compiled and prepared; 100 rows of 16 columns stay far below SQLite's 32,766 parameters. */
const CHUNK_SIZES = [100, 10, 1] as const;

const compiled = new Map<string, string>();

/**
 * Inserts rows in their order. Kysely's own `values(rows)` builds and compiles a tree anew for each call, which is most of
 * the time of a large insert; here the text is compiled once for each table, set of columns and chunk size.
 * @param rows All with the same columns, in the same order.
 */
export async function insertMany<T extends keyof Schema>(db: Kysely<Schema>, table: T, rows: readonly Insertable<Schema[T]>[]): Promise<void> {
  const first = rows[0];
  if (!first) return;
  const columns = Object.keys(first);
  let at = 0;
  for (const size of CHUNK_SIZES) {
    for (; rows.length - at >= size; at += size) {
      const parameters: unknown[] = [];
      for (let row = at; row < at + size; row += 1) parameters.push(...Object.values(rows[row] as object));
      await db.executeQuery(CompiledQuery.raw(textFor(db, table, columns, size), parameters));
    }
  }
}

function textFor(db: Kysely<Schema>, table: keyof Schema, columns: readonly string[], size: number): string {
  const key = `${isPostgres(db)} ${table} ${size} ${columns.join(",")}`;
  let text = compiled.get(key);
  if (text === undefined) {
    const row = Object.fromEntries(columns.map((column) => [column, ""]));
    text = (db as unknown as Kysely<Record<string, Record<string, string>>>).insertInto(table).values(Array.from({ length: size }, () => row)).compile().sql;
    compiled.set(key, text);
  }
  return text;
}
