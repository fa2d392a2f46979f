import { existsSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { CompiledQuery, type Kysely, type Migration, type Transaction, sql } from "kysely";
import { CollectorError } from "../../errors.ts";
import { type PostgresLocation, showLocation } from "../location.ts";
import { migrate } from "../migrate.ts";
import { MIGRATIONS } from "../migrations/table.ts";
import { type Cell, createDigest } from "./move-digest.ts";
import { listTables, type SourceTable } from "./move-tables.ts";
import { holdAlone } from "../postgres.ts";
import type { Schema } from "../schema.ts";

/** What is there of a table on both sides, after it was read again from the new one. */
export interface MovedTable {
  readonly table: string;
  readonly rows: number;
  /** Over all rows, whatever their order: 32 hexadecimal digits. */
  readonly checksum: string;
  /** Texts that held U+0000, which PostgreSQL has no place for; they hold U+FFFD there instead. */
  readonly replaced: number;
}

/** Rows in one statement; with the 65,535 parameters that PostgreSQL takes, tables may have 130 columns. */
const INSERTED_AT_ONCE = 500;
const READ_AT_ONCE = 2000;

/**
 * Moves a deployment's database from a file to an empty PostgreSQL database: every table and every row, in one transaction
 * there, with counts and checksums of what was written compared with what was read. The file stays as it is, and nobody else may
 * have it open, so that nothing is written there meanwhile.
 * @param options.moved Told of each table when it is verified; nothing of it counts before the promise resolves.
 * @throws CollectorError `move-refused` with what to do; then the PostgreSQL database holds no row.
 */
export async function moveDatabase(
  from: { readonly file: string },
  to: PostgresLocation,
  options: { readonly migrations?: Readonly<Record<string, Migration>>; readonly moved?: (table: MovedTable) => void } = {},
): Promise<readonly MovedTable[]> {
  const migrations = options.migrations ?? MIGRATIONS;
  const source = openAlone(from.file);
  try {
    checkVersion(source, from.file, migrations);
    const all: MovedTable[] = [];
    await holdAlone(to, async (db) => {
      await refuseForeign(db, showLocation(to));
      await migrate(db, migrations, showLocation(to));
      await db.transaction().execute(async (trx) => {
        const tables = listTables(source);
        await refuseOtherColumns(trx, tables);
        await refuseFilled(trx, tables, showLocation(to));
        for (const table of tables) {
          const moved = await moveTable(source, trx, table);
          all.push(moved);
          options.moved?.(moved);
        }
      });
      await sql`analyze`.execute(db);
    });
    return all;
  } finally {
    source.close();
  }
}

/** A collector that runs has the file open, and one that is started now finds it locked. */
function openAlone(file: string): Sqlite.Database {
  if (!existsSync(file)) throw refused(`there is no database ${file}`);
  const source = new Sqlite(file, { fileMustExist: true, timeout: 1000 });
  try {
    // Before anything is read: in this mode the first look takes every lock.
    source.pragma("locking_mode = EXCLUSIVE");
    source.exec("begin immediate");
    source.defaultSafeIntegers(true);
    return source;
  } catch (cause) {
    source.close();
    const isBusy = (cause as { readonly code?: string }).code?.startsWith("SQLITE_BUSY");
    throw refused(
      isBusy ? `${file} is in use: stop the collector and every other process that has it open` : `cannot open the database ${file}`, cause,
    );
  }
}

function checkVersion(source: Sqlite.Database, file: string, migrations: Readonly<Record<string, Migration>>): void {
  let applied: readonly string[] = [];
  try {
    applied = source.prepare("select name from kysely_migration order by name").pluck().all() as string[];
  } catch (cause) {
    throw refused(`${file} is not a collector's database`, cause);
  }
  const known = Object.keys(migrations).toSorted();
  if (applied.length === known.length && applied.every((name, index) => name === known[index])) return;
  const isNewer = applied.some((name) => !known.includes(name));
  throw refused(isNewer
    ? `${file} was written by a newer version: use that one`
    : `${file} has an older version: start this version's collector on it once, and stop it again`);
}

/** Somebody else's tables are not to be mixed with ours. */
async function refuseForeign(db: Kysely<Schema>, place: string): Promise<void> {
  const tables = (await db.introspection.getTables()).map(({ name }) => name);
  if (tables.length > 0 && !tables.includes("devices")) {
    throw refused(`${place} holds other tables (${tables.slice(0, 3).join(", ")}): create a separate database`);
  }
}

async function refuseOtherColumns(trx: Transaction<Schema>, tables: readonly SourceTable[]): Promise<void> {
  const found = new Map(
    (await trx.introspection.getTables()).map(({ name, columns }) => [name, columns.map((column) => column.name).toSorted().join()]),
  );
  const other = tables.find(({ name, columns }) => found.get(name) !== columns.toSorted().join());
  if (other) throw refused(`the table ${other.name} has other columns in PostgreSQL`);
}

async function refuseFilled(trx: Transaction<Schema>, tables: readonly SourceTable[], place: string): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(trx);
    if (rows.length > 0) throw refused(`${place} is not empty (${name}): create another database, or drop this one and create it again`);
  }
}

async function moveTable(source: Sqlite.Database, trx: Transaction<Schema>, table: SourceTable): Promise<MovedTable> {
  const { name, columns } = table;
  // What triggers keep is a table too, and comes as it is.
  await sql`alter table ${sql.table(name)} disable trigger user`.execute(trx);
  const read = createDigest();
  let replaced = 0;
  let batch: Cell[][] = [];
  for (const row of source.prepare(`select ${columns.map(quote).join(", ")} from ${quote(name)}`).raw().iterate() as Iterable<Cell[]>) {
    for (const [at, cell] of row.entries()) {
      if (typeof cell !== "string" || !cell.includes("\0")) continue;
      row[at] = cell.replaceAll("\0", "\u{FFFD}");
      replaced += 1;
    }
    read.add(row);
    batch.push(row);
    if (batch.length < INSERTED_AT_ONCE) continue;
    await insert(trx, table, batch);
    batch = [];
  }
  await insert(trx, table, batch);
  await sql`alter table ${sql.table(name)} enable trigger user`.execute(trx);
  await continueSequences(trx, table);
  const written = await digestOf(trx, table);
  if (written.rows !== read.rows() || written.checksum !== read.checksum()) {
    throw refused(`the table ${name} was not copied correctly: ${read.rows()} rows ${read.checksum()} here, ${written.rows} rows `
      + `${written.checksum} there`);
  }
  return { table: name, ...written, replaced };
}

async function insert(trx: Transaction<Schema>, { name, columns }: SourceTable, rows: readonly (readonly Cell[])[]): Promise<void> {
  if (rows.length === 0) return;
  let parameter = 0;
  const tuple = () => `(${columns.map(() => `$${(parameter += 1)}`).join(", ")})`;
  const text = `insert into ${quote(name)} (${columns.map(quote).join(", ")}) overriding system value values ${rows.map(tuple).join(", ")}`;
  await trx.executeQuery(CompiledQuery.raw(text, rows.flat())).catch((cause: unknown) => {
    throw refused(`a row of the table ${name} does not fit into PostgreSQL`, cause);
  });
}

async function digestOf(trx: Transaction<Schema>, { name, columns }: SourceTable): Promise<{
  readonly rows: number; readonly checksum: string;
}> {
  const digest = createDigest();
  await sql`declare moved no scroll cursor for select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(name)}`
    .execute(trx);
  for (;;) {
    const { rows } = await sql<Readonly<Record<string, Cell>>>`fetch ${sql.lit(READ_AT_ONCE)} from moved`.execute(trx);
    if (rows.length === 0) break;
    for (const row of rows) digest.add(columns.map((column) => row[column] as Cell));
  }
  await sql`close moved`.execute(trx);
  return { rows: digest.rows(), checksum: digest.checksum() };
}

/** Numbers that the database gives out go on after the greatest that came. */
async function continueSequences(trx: Transaction<Schema>, { name, columns }: SourceTable): Promise<void> {
  for (const column of columns) {
    const { rows: [found] } =
      await sql<{ sequence: string | null }>`select pg_get_serial_sequence(${quote(name)}, ${column}) as sequence`.execute(trx);
    if (found?.sequence == null) continue;
    await sql`select setval(${found.sequence}::regclass, (select coalesce(max(${sql.ref(column)}), 0) + 1 from ${sql.table(name)}), false)`
      .execute(trx);
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function refused(message: string, cause?: unknown): CollectorError {
  return new CollectorError("move-refused", message, { cause });
}
