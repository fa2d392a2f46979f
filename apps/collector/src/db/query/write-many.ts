import { CompiledQuery, type Insertable, type Kysely, type RawBuilder, sql } from "kysely";
import { isPostgres } from "../row-locks.ts";
import type { Schema } from "../schema.ts";
import { RowBatch } from "./statements.ts";

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
 * @param options.update Columns that take the new value; none: rows that are there stay as they are. With `newerBy`, only where that column's new value is greater.
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
    return sql`insert into ${sql.table(table)} (${namesOf(columns)}) ${all} on conflict (${namesOf(key)}) do ${sets.length === 0 ? sql`nothing` : sql`update set ${sql.join(sets)}${newer}`}`;
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

/** In one statement of PostgreSQL: some hundred kilobytes. */
const POSTGRES_SIZE = 1000;

const texts = new Map<string, string>();

async function write(db: Kysely<Schema>, table: Table, rows: readonly Row[], kind: string, compile: Compile): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0] ?? {});
  const shape = `${kind} ${table} ${columns.join()}`;
  const isServer = isPostgres(db);
  let text = texts.get(`${isServer} ${shape}`);
  if (text === undefined) {
    texts.set(`${isServer} ${shape}`, (text = compile(columns, isServer ? asRecords(table, columns) : asValues(columns)).compile(db).sql));
  }
  if (!isServer) {
    // SQLite runs one prepared statement for each row faster than one that has them all.
    await db.executeQuery(CompiledQuery.raw(text, [new RowBatch(rows.map((row) => Object.values(row)))]));
    return;
  }
  for (let at = 0; at < rows.length; at += POSTGRES_SIZE) {
    await db.executeQuery(CompiledQuery.raw(text, [toJson(rows.slice(at, at + POSTGRES_SIZE))]));
  }
}

/** The values of one row. */
function asValues(columns: readonly string[]): Source {
  const values = sql.join(columns.map(() => ""));
  const named = sql.join(columns.map((column) => sql`${""} as ${sql.ref(column)}`));
  return { rows: sql`values (${values})`, from: sql`(select ${named})` };
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
