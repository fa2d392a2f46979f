import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { Client } from "pg";
import type { DatabaseLocation } from "../db/location.ts";
import { type Database, openDatabase } from "../db/open.ts";

/** Holds the URL of a PostgreSQL server in tests that run on one: see `postgres-setup.ts`. Without it, tests run on SQLite. */
export const SERVER_VARIABLE = "LANTHORN_TEST_POSTGRES";

/** Database of the server that each test's is a copy of: a copy takes a tenth of the time that all migrations take. */
export const TEMPLATE = "lanthorn_template";

export function isOnPostgres(): boolean {
  return process.env[SERVER_VARIABLE] !== undefined;
}

/** By the data directory of their collector, as a file would lie in it. */
const made = new Map<string, Promise<string>>();

/**
 * A database for whatever keeps its data in `dataDir`, on the kind of database that this run is about: a new one at first, and the same
 * one each time after.
 * @param options.isBlank Without any tables on PostgreSQL.
 */
export async function testLocation(dataDir: string, options: { readonly isBlank?: boolean } = {}): Promise<DatabaseLocation> {
  const server = process.env[SERVER_VARIABLE];
  if (server === undefined) return { file: join(dataDir, "lanthorn.db") };
  let url = made.get(dataDir);
  if (url === undefined) made.set(dataDir, (url = createCopy(server, options.isBlank ? "template1" : TEMPLATE)));
  return { url: await url };
}

/** On SQLite a new file begins as a copy of one with every table: what each migration flushes took most of a test's time. */
export async function openTestDatabase(dataDir: string): Promise<Database> {
  return openDatabase(await migratedLocation(dataDir));
}

async function migratedLocation(dataDir: string): Promise<DatabaseLocation> {
  const location = await testLocation(dataDir);
  if ("file" in location && !existsSync(location.file)) writeFileSync(location.file, await (migrated ??= readMigrated()), { mode: 0o600 });
  return location;
}

/** An empty SQLite database with every table, as bytes; made once in a process. */
let migrated: Promise<Uint8Array> | undefined;

async function readMigrated(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-template-"));
  try {
    const file = join(folder, "lanthorn.db");
    await (await openDatabase({ file })).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * What tells a collector in a process of its own where that database is.
 * @param options.isMigrated It has every table already, for tests in which the first start is not what is looked at.
 */
export async function testEnvironment(
  dataDir: string, options: { readonly isMigrated?: boolean } = {},
): Promise<Readonly<Record<string, string>>> {
  const location = await (options.isMigrated ? migratedLocation(dataDir) : testLocation(dataDir, { isBlank: true }));
  return "url" in location ? { LANTHORN_DATABASE_URL: location.url } : {};
}

/**
 * Makes every write fail, as a full disk or a server that takes no connection does.
 * @returns Ends that.
 */
export async function refuseWrites({ db }: Pick<Database, "db">): Promise<() => Promise<void>> {
  const server = process.env[SERVER_VARIABLE];
  if (server === undefined) {
    await sql`pragma query_only = on`.execute(db);
    return async () => void (await sql`pragma query_only = off`.execute(db));
  }
  const { rows: [row] } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const allow = (connections: number) => onServer(server, [
    `alter database "${row?.name}" connection limit ${connections}`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${row?.name}'`,
  ]);
  await allow(0);
  return () => allow(-1);
}

/** Makes the database refuse any device of this name, as nobody has foreseen. */
export async function refuseHostname({ db }: Pick<Database, "db">, hostname: string): Promise<void> {
  await sql.raw(isOnPostgres()
    ? `alter table devices add constraint refuse check (hostname <> '${hostname}')`
    : `create trigger refuse before insert on devices when new.hostname = '${hostname}' begin select raise(abort, `
      + `'refused'); end`).execute(db);
}

/** Removes what this process has made. */
export async function dropTestDatabases(): Promise<void> {
  const urls = await Promise.all(made.values());
  made.clear();
  const server = process.env[SERVER_VARIABLE];
  if (server !== undefined && urls.length > 0) {
    await onServer(server, urls.map((url) => `drop database "${new URL(url).pathname.slice(1)}" with (force)`));
  }
}

async function createCopy(server: string, template: string): Promise<string> {
  const url = new URL(server);
  url.pathname = `test_${randomUUID()}`;
  // As files rather than through the log: a copy and its end take half of the processor, for nothing is written to a disk.
  await onServer(server, [`create database "${url.pathname.slice(1)}" template "${template}" strategy file_copy`]);
  return url.href;
}

async function onServer(server: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
