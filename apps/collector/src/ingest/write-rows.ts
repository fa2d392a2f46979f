import { CompiledQuery, type Kysely, sql } from "kysely";
import type { Schema } from "../db/schema.ts";

type Table = keyof Schema;
type Row = Readonly<Record<string, string | number | null>>;

/** Rows in one statement. Few sizes, so that few texts are compiled and prepared; the largest stay far below SQLite's 32,766 parameters. */
const CHUNK_SIZES = [100, 10, 1] as const;

const texts = new Map<string, string>();

/**
 * Inserts rows, or updates those whose key is there: as `insertMany`, whose reasons hold here too.
 * @param options.update Columns that take the new value. With `newerBy`, only where that column's new value is greater.
 * @param rows All with the same columns in the same order; no key twice, which PostgreSQL does not take in one statement.
 */
export async function upsertMany(
  db: Kysely<Schema>,
  table: Table,
  options: { readonly key: readonly string[]; readonly update: readonly string[]; readonly newerBy?: string },
  rows: readonly Row[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  await inChunks(db, rows, (size) => `upsert ${table} ${size}`, (size) => {
    const row = Object.fromEntries(columns.map((column) => [column, ""]));
    return (db as unknown as Kysely<Record<string, Record<string, string>>>).insertInto(table)
      .values(Array.from({ length: size }, () => row))
      .onConflict((conflict) => {
        const update = conflict.columns([...options.key]).doUpdateSet(
          Object.fromEntries(options.update.map((column) => [column, sql.ref(`excluded.${column}`)])),
        );
        const { newerBy } = options;
        return newerBy === undefined ? update : update.whereRef(sql.ref(`excluded.${newerBy}`), ">", sql.ref(`${table}.${newerBy}`));
      }).compile().sql;
  });
}

/** Columns of `devices` that are numbers: PostgreSQL takes the parameters of a `values` list for texts. */
const NUMBERS: ReadonlySet<string> = new Set(["is_online"]);

/**
 * Sets columns of devices that exist, each to its own values. An index is written anew when a column of it is named here,
 * whether or not its value changes; so only what changed is named, and a mere sighting costs one index.
 * @param rows `id` first, then the columns to set; all with the same.
 */
export async function updateDevices(db: Kysely<Schema>, rows: readonly ({ readonly id: string } & Row)[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).slice(1);
  await inChunks(db, rows, (size) => `update ${columns.join(",")} ${size}`, (size) => {
    const tuple = sql`(${sql.join(["", ...columns])})`;
    const sets = columns.map((column, index) => {
      // Both databases name the columns of `values` so.
      const value = sql.ref(`v.column${index + 2}`);
      return sql`${sql.ref(column)} = ${NUMBERS.has(column) ? sql`cast(${value} as integer)` : value}`;
    });
    const values = sql.join(Array.from({ length: size }, () => tuple));
    return sql`update devices set ${sql.join(sets)} from (values ${values}) as v where devices.id = v.column1`.compile(db).sql;
  });
}

async function inChunks(
  db: Kysely<Schema>, rows: readonly Row[], keyOf: (size: number) => string, compile: (size: number) => string,
): Promise<void> {
  let at = 0;
  for (const size of CHUNK_SIZES) {
    if (rows.length - at < size) continue;
    const key = keyOf(size);
    let text = texts.get(key);
    if (text === undefined) texts.set(key, (text = compile(size)));
    for (; rows.length - at >= size; at += size) {
      const parameters: unknown[] = [];
      for (let row = at; row < at + size; row += 1) {
        for (const value of Object.values(rows[row] as Row)) parameters.push(value);
      }
      await db.executeQuery(CompiledQuery.raw(text, parameters));
    }
  }
}
