import type { PostgresPool, PostgresPoolClient } from "kysely";
import { type CustomTypesConfig, DatabaseError, Pool, type PoolClient, types as usual } from "pg";
import { CollectorError } from "../errors.ts";

/** Oids of `int8` and `numeric`, as pg_type.dat has them. */
const WHOLE_NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

/** Whole numbers of 64 bits, counts and sums come as texts otherwise; ours all fit: sequences, bytes, numbers of rows. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => (WHOLE_NUMBERS.has(oid) ? Number : usual.getTypeParser(oid, format)) as never,
};

/** Longer than any statement may take; only a server or a way to it that hangs gets there. */
const ANSWER_GRACE_MS = 5000;

interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** 0 for as long as it takes. */
  readonly statementTimeoutMs: number;
  /** Sent over each new connection. */
  readonly session: string;
  /** Whether the server keeps the statements it has parsed; see `createNames`. */
  readonly isPreparing?: boolean;
}

/**
 * Connections to PostgreSQL, made when they are needed and again after the server was away.
 *
 * A connection that fails between two statements of a transaction says so to nobody but its `error` listeners, and without
 * one the process would end; so each has one. A connection whose statement got no answer is given up, not used again.
 * @returns For Kysely. Failures that are no answer of the server's are CollectorError `database-unreachable`.
 */
export function createPool({ url, size, statementTimeoutMs, session, isPreparing = false }: PoolOptions): PostgresPool {
  const pool = new Pool({
    connectionString: url, max: size, types, fallback_application_name: "lanthorn-collector", keepAlive: true,
    keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 10_000, idleTimeoutMillis: 0,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + ANSWER_GRACE_MS }),
  });
  pool.on("connect", (client) => void client.on("error", () => {}));
  pool.on("error", () => {});
  const readied = new WeakSet<PoolClient>();
  const nameOf = isPreparing ? createNames() : () => undefined;
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => { throw translate(error); });
      if (!readied.has(client)) {
        try {
          await client.query(session);
        } catch (error) {
          client.release(true);
          throw translate(error);
        }
        readied.add(client);
      }
      return lend(client, nameOf);
    },
    end: () => pool.end(),
  };
}

type NameOf = (text: string) => string | undefined;

/** Texts that get a name. The collector's own are some dozens, each for some sizes of lists. */
const MAX_NAMES = 500;

/**
 * Names for statements that come again: the server parses and plans one that has a name once for each connection, which is most of
 * its work for a statement that touches few rows. A text that comes once, as a filter made up by a person does, gets none.
 */
function createNames(): NameOf {
  const names = new Map<string, string>();
  let seen = new Set<string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size === MAX_NAMES) return known;
    if (!seen.has(text)) {
      if (seen.size === MAX_NAMES) seen = new Set();
      seen.add(text);
      return undefined;
    }
    seen.delete(text);
    const name = `s${names.size + 1}`;
    names.set(text, name);
    return name;
  };
}

/** A table has changed under a statement that has a name: a later version has migrated the database. Another connection parses it anew. */
function isOutdated(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "0A000";
}

function lend(client: PoolClient, nameOf: NameOf): PostgresPoolClient {
  let isBroken = false;
  const query = async (text: string, parameters: readonly unknown[]) => {
    const name = parameters.length === 0 ? undefined : nameOf(text);
    const result = await client.query({
      text, values: parameters as unknown[], ...(name !== undefined && { name }),
    }).catch((error: unknown) => {
      const reason = name !== undefined && isOutdated(error) ? unanswered(error) : translate(error);
      isBroken ||= !(reason instanceof DatabaseError);
      throw reason;
    });
    // A transaction in which something failed is undone by `commit` too, without a word.
    if (text === "commit" && result.command === "ROLLBACK") throw new Error("the transaction was undone: a statement in it had failed");
    return result;
  };
  return { query: query as unknown as PostgresPoolClient["query"], release: () => client.release(isBroken) };
}

/** What the server answered stays as it is; that there was no answer becomes an error with a code. */
function translate(error: unknown): unknown {
  return error instanceof DatabaseError ? error : unanswered(error);
}

function unanswered(cause: unknown): CollectorError {
  return new CollectorError("database-unreachable", "PostgreSQL does not answer", { cause });
}
