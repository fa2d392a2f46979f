import { CompiledQuery, type Insertable, type Kysely, type RawBuilder, sql } from "kysely";
import { isPostgres } from "../row-locks.ts";
import type { Schema } from "../schema.ts";

type Table = keyof Schema;
type Row = Readonly<Record<string, string | number | null>>;

/**
 * Inserts rows in their order. Kysely's own `values(rows)` builds and compiles a tree anew for each call, which is most of
 * the time of a large insert; here a text is compiled once for each table and set of columns.
 * @param rows All with the same columns, in the same order.
 */
export async function insertMany<T extends Table>(db: Kysely<Schema>, table: T, rows: readonly Insertable<Schema[T]>[]): Promise<void> {
  await write(db, table, rows, "insert", (columns, { rows: all }) =>
    sql`insert into ${sql.table(table)} (${namesOf(columns)}) ${all}`);
}

/**
 * Inserts rows, or updates those whose key is there.
 * @param options.update Columns that take the new value. With `newerBy`, only where that column's new value is greater.
 * @param rows As for `insertMany`; no key twice, which PostgreSQL does not take in one statement.
 */
export async function upsertMany(
  db: Kysely<Schema>, table: Table,
  options: { readonly key: readonly string[]; readonly update: readonly string[]; readonly newerBy?: string },
  rows: readonly Row[],
): Promise<void> {
  const { key, update, newerBy } = options;
  await write(db, table, rows, "upsert", (columns, { rows: all }) => {
    const sets = update.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
    const newer = newerBy === undefined ? sql`` : sql` where ${sql.ref(`excluded.${newerBy}`)} > ${sql.ref(`${table}.${newerBy}`)}`;
    return sql`insert into ${sql.table(table)} (${namesOf(columns)}) ${all} on conflict (${namesOf(key)}) do update set ${sql.join(sets)}${newer}`;
  });
}

/**
 * Sets columns of rows that exist, each to its own values. An index is written anew when a column of it is named here,
 * whether or not its value changes; so only what changed is to be named.
 * @param rows The key's columns and those to set; all with the same, in the same order, and no key twice.
 * @param key What a row is found by.
 */
export async function updateMany(
  db: Kysely<Schema>, table: Table, rows: readonly Row[], key: readonly string[] = ["id"],
): Promise<void> {
  const isKey = new Set(key);
  await write(db, table, rows, `update by ${key.join()}`, (columns, { from }) => {
    const sets = columns.filter((column) => !isKey.has(column)).map((column) => sql`${sql.ref(column)} = ${sql.ref(`v.${column}`)}`);
    const found = key.map((column) => sql`${sql.ref(`${table}.${column}`)} = ${sql.ref(`v.${column}`)}`);
    return sql`update ${sql.table(table)} set ${sql.join(sets)} from ${from} as v where ${sql.join(found, sql` and `)}`;
  });
}

/** How a statement gets its rows: after the columns of an insert, or as a table with the columns' names. */
interface Source {
  readonly rows: RawBuilder<unknown>;
  readonly from: RawBuilder<unknown>;
}

type Compile = (columns: readonly string[], source: Source) => RawBuilder<unknown>;

/**
 * Rows in one statement of SQLite's. Few sizes, so that few texts are prepared; 128 rows of 16 columns stay far below its 32,766
 * parameters.
 */
const SQLITE_SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const;

/** Of PostgreSQL's: some hundred kilobytes. */
const POSTGRES_SIZE = 1000;

const texts = new Map<string, string>();

async function write(db: Kysely<Schema>, table: Table, rows: readonly Row[], kind: string, compile: Compile): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const shape = `${kind} ${table} ${columns.join()}`;
  const textOf = (size: number | null) => {
    const key = `${size} ${shape}`;
    let text = texts.get(key);
    if (text === undefined) {
      texts.set(key, (text = compile(columns, size === null ? asRecords(table, columns) : asValues(columns, size)).compile(db).sql));
    }
    return text;
  };
  if (isPostgres(db)) {
    for (let at = 0; at < rows.length; at += POSTGRES_SIZE) {
      await db.executeQuery(CompiledQuery.raw(textOf(null), [toJson(rows.slice(at, at + POSTGRES_SIZE))]));
    }
    return;
  }
  let at = 0;
  for (const size of SQLITE_SIZES) {
    for (; rows.length - at >= size; at += size) {
      const parameters: unknown[] = [];
      for (let row = at; row < at + size; row += 1) for (const value of Object.values(rows[row] as Row)) parameters.push(value);
      await db.executeQuery(CompiledQuery.raw(textOf(size), parameters));
    }
  }
}

/** A list of values, which SQLite reads fastest. */
function asValues(columns: readonly string[], size: number): Source {
  const tuple = sql`(${sql.join(columns.map(() => ""))})`;
  const rows = sql`values ${sql.join(Array.from({ length: size }, () => tuple))}`;
  const named = sql.join(columns.map((column, index) => sql`${sql.ref(`column${index + 1}`)} as ${sql.ref(column)}`));
  return { rows, from: sql`(select ${named} from (${rows}))` };
}

/** One parameter whatever the number of rows, each value of its column's type: one round trip, and one statement to be prepared. */
function asRecords(table: Table, columns: readonly string[]): Source {
  const from = sql`json_populate_recordset(null::${sql.table(table)}, ${""}::json)`;
  return { rows: sql`select ${namesOf(columns)} from ${from}`, from };
}

function namesOf(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)));
}

/** Half of a pair of UTF-16, as JSON writes it. PostgreSQL refuses one, and as a text of its own it would become U+FFFD. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g;

function toJson(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  return text.includes("\\ud") ? text.replaceAll(LONE_SURROGATE, "$1\ufffd") : text;
}
