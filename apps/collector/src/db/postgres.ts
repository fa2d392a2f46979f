import { Kysely, PostgresDialect, sql } from "kysely";
import { DatabaseError } from "pg";
import { CollectorError } from "../errors.ts";
import { isAway } from "./faults.ts";
import type { Database, Prepare } from "./handles.ts";
import { type PostgresLocation, showLocation } from "./location.ts";
import { createPool } from "./postgres-pool.ts";
import type { Schema } from "./schema.ts";
import { makeTrigramIndex } from "./keys/trigram-index.ts";

/** Also what Debian 12 has. @see https://www.postgresql.org/support/versioning/ */
const MIN_VERSION = 15;

const DEFAULT_POOL_SIZE = 10;
const DEFAULT_STATEMENT_TIMEOUT_SECONDS = 30;

/** Of the lock that whoever migrates holds; no other program is likely to take it. */
const MIGRATION_LOCK = "7305803291107417";

/**
 * A pool that writes and one that reads.
 *
 * `synchronous_commit` at least `on`: what was acknowledged to a probe is deleted there. A transaction whose process hangs
 * is ended by the server after a minute, since it may hold a tenant. Compiling queries (`jit`) takes longer than ours run. At the
 * price of a disk head's way (`random_page_cost` 4), tables of some ten thousand rows are read whole for a hundred of them.
 * @throws CollectorError `database-unreachable`, `database-unsuitable`.
 */
export async function openPostgres(location: PostgresLocation, prepare: Prepare): Promise<Database> {
  const { url, poolSize = DEFAULT_POOL_SIZE, statementTimeoutSeconds = DEFAULT_STATEMENT_TIMEOUT_SECONDS } = location;
  let advice: string | null = null;
  await holdAlone(location, async (db) => {
    await prepare(db);
    advice = await makeTrigramIndex(db);
  });
  const statementTimeoutMs = statementTimeoutSeconds * 1000;
  const open = (isReader: boolean) => new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createPool({
      url, size: poolSize, statementTimeoutMs, session: sessionOf(statementTimeoutMs, isReader), isPreparing: !isReader,
    }) }),
  });
  const [db, reads] = [open(false), open(true)];
  return { db, reads, advice, close: async () => void (await Promise.all([reads.destroy(), db.destroy()])) };
}

/**
 * Does work that changes tables, over one connection of its own and with no limit of time, while every collector that starts waits.
 * @throws As `openPostgres`.
 */
export async function holdAlone(location: PostgresLocation, work: Prepare): Promise<void> {
  const session = "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0";
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createPool({ url: location.url, size: 1, statementTimeoutMs: 0, session }) }),
  });
  try {
    await examine(db, showLocation(location));
    // Of the connection, and there is but one: the lock ends with it.
    await sql`select pg_advisory_lock(${sql.raw(MIGRATION_LOCK)})`.execute(db);
    await work(db);
  } finally {
    await db.destroy();
  }
}

function sessionOf(statementTimeoutMs: number, isReader: boolean): string {
  return [
    `set statement_timeout = ${statementTimeoutMs}`,
    "set idle_in_transaction_session_timeout = 60000",
    "set jit = off",
    "set random_page_cost = 1.1",
    "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'",
    ...(isReader ? ["set default_transaction_read_only = on"] : []),
  ].join("; ");
}

/** What makes a server or a database unfit, said before anything is changed there. */
async function examine(db: Kysely<Schema>, place: string): Promise<void> {
  const unsuitable = (what: string, cause?: unknown) => new CollectorError("database-unsuitable", `${place}: ${what}`, { cause });
  const { rows: [server] } = await sql<{ version: number; encoding: string; may_create: boolean }>`
    select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create`.execute(db).catch((error: unknown) => {
    throw error instanceof DatabaseError && !isAway(error)
      ? unsuitable(error.message, error)
      : new CollectorError("database-unreachable", `cannot reach ${place}: start it, or correct database.url`, {
        cause: error instanceof CollectorError ? error.cause : error,
      });
  });
  if (!server) throw unsuitable("it does not report its version");
  if (server.version < MIN_VERSION) throw unsuitable(`it is version ${server.version}; ${MIN_VERSION} or later is needed`);
  if (server.encoding !== "UTF8") {
    throw unsuitable(`its encoding is ${server.encoding}; create database … encoding 'UTF8' template template0`);
  }
  if (!server.may_create) throw unsuitable("the user may not create tables there; make it the database's owner");
}
