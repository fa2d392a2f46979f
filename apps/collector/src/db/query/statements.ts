import type Sqlite from "better-sqlite3";
import { type DatabaseConnection, type DialectAdapter, type Driver, type Kysely, SqliteAdapter, SqliteDialect, type SqliteDatabase, SqliteDriver, type SqliteStatement } from "kysely";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";

/** Statements kept prepared. The collector's own queries are some dozens of texts; lists with filters make some hundreds. */
const KEPT_STATEMENTS = 500;

/**
 * Kysely's dialect, except that a migration is one transaction: SQLite can undo changes of tables, which Kysely does not
 * count on, and a migration that stops halfway would leave a database that no version can open.
 */
class TransactionalDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #checkpoints: Pace;

  constructor(database: SqliteDatabase, checkpoints: Pace) {
    super({ database });
    this.#database = database;
    this.#checkpoints = checkpoints;
  }

  override createDriver(): Driver {
    return new PacedDriver({ database: this.#database }, this.#checkpoints.ready);
  }

  override createAdapter(): DialectAdapter {
    return new FileAdapter(this.#checkpoints.rest);
  }
}

class FileAdapter extends SqliteAdapter {
  readonly rest: () => Promise<void>;

  constructor(rest: () => Promise<void>) {
    super();
    this.rest = rest;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * For work in the background, between its transactions: waits until what it wrote is folded into SQLite's file, so that the log begins anew with the next
 * transaction and nobody whose answer is awaited has to wait for that. At once where the log is short, and for PostgreSQL.
 */
export async function restForLog<T>(db: Kysely<T>): Promise<void> {
  const { adapter } = db.getExecutor();
  if (adapter instanceof FileAdapter) await adapter.rest();
}

type Pace = Pick<Checkpoints, "ready" | "rest">;

/** Kysely's driver, except that whoever has the connection waits until it is ready. */
class PacedDriver extends SqliteDriver {
  readonly #ready: () => Promise<void>;

  constructor(config: { readonly database: SqliteDatabase }, ready: () => Promise<void>) {
    super(config);
    this.#ready = ready;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    await this.#ready();
    return connection;
  }
}

/** For a connection that does not write, or whose log nobody else folds in. */
const NO_CHECKPOINTS: Pace & Pick<Checkpoints, "wrote"> = { wrote: () => {}, ready: async () => {}, rest: async () => {} };

/**
 * A dialect over an open connection, closed with it. Statements stay prepared: Kysely prepares at every call, which took
 * more time than running the statement. A writer's `begin` becomes `begin immediate`: a transaction that reads first and
 * writes later would otherwise fail outright when another process has written in between.
 * @param checkpoints `wrote` is called with how many rows were changed, when that is committed, or will be with others; `ready` before a transaction, `rest` by `restForLog`.
 */
export function dialectOf(connection: Sqlite.Database, checkpoints = NO_CHECKPOINTS): SqliteDialect {
  return new TransactionalDialect(keepStatements(connection, checkpoints.wrote), checkpoints);
}

function keepStatements(connection: Sqlite.Database, wrote: (rows: number) => void): SqliteDatabase {
  let changed = 0;
  const count = (result: Sqlite.RunResult) => {
    changed += result.changes;
    if (connection.inTransaction) return result;
    wrote(changed);
    changed = 0;
    return result;
  };
  const kept = new Map<string, SqliteStatement>();
  return {
    close() {
      kept.clear();
      connection.close();
    },
    prepare(sql) {
      const text = sql === "begin" && !connection.readonly ? "begin immediate" : sql;
      const known = kept.get(text);
      if (known) {
        // Moved to the end: the first of a Map is then the one least lately used.
        kept.delete(text);
        kept.set(text, known);
        return known;
      }
      const prepared = statement(connection, text, count);
      kept.set(text, prepared);
      if (kept.size > KEPT_STATEMENTS) kept.delete(kept.keys().next().value as string);
      return prepared;
    },
  };
}

/**
 * The only parameter of a statement that is to be run for each of many rows. Outside of a transaction they are one; within one, a row that fails leaves those
 * before it, as what called it has to undo the transaction anyway: PostgreSQL does not go on in it either.
 */
export class RowBatch {
  readonly rows: readonly (readonly unknown[])[];

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
  }
}

const NOTHING_DONE = { changes: 0, lastInsertRowid: 0 } as const;

function statement(connection: Sqlite.Database, text: string, count: (result: Sqlite.RunResult) => Sqlite.RunResult): SqliteStatement {
  const prepared = connection.prepare<[readonly unknown[]]>(text);
  return {
    reader: prepared.reader,
    all: (parameters) => prepared.all(parameters),
    run(parameters) {
      const [first] = parameters;
      if (first instanceof RowBatch) return count(runBatch(connection, prepared, first));
      // On a full disk SQLite has undone the transaction itself; a second time is an error that would hide the first one.
      return text === "rollback" && !connection.inTransaction ? NOTHING_DONE : count(prepared.run(parameters));
    },
    iterate: (parameters) => prepared.iterate(parameters),
  };
}

/** No savepoint within a transaction: SQLite would keep each page as it was before, which costs as much as the rows. */
function runBatch(connection: Sqlite.Database, prepared: Sqlite.Statement<[readonly unknown[]]>, { rows }: RowBatch): Sqlite.RunResult {
  const run = () => {
    let changes = 0;
    for (const row of rows) changes += prepared.run(row).changes;
    return { changes, lastInsertRowid: 0 };
  };
  return connection.inTransaction ? run() : connection.transaction(run).immediate();
}
