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

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** 0 for as long as it takes. */
  readonly statementTimeoutMs: number;
  /** Sent over each new connection. */
  readonly session: string;
}

/**
 * Connections to PostgreSQL, made when they are needed and again after the server was away.
 *
 * A connection that fails between two statements of a transaction says so to nobody but its `error` listeners, and without
 * one the process would end; so each has one. A connection whose statement got no answer is given up, not used again.
 * @returns For Kysely. Failures that are no answer of the server's are CollectorError `database-unreachable`.
 */
export function createPool({ url, size, statementTimeoutMs, session }: PoolOptions): PostgresPool {
  const pool = new Pool({
    connectionString: url, max: size, types, fallback_application_name: "lanthorn-collector", keepAlive: true, keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000, idleTimeoutMillis: 0,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + ANSWER_GRACE_MS }),
  });
  pool.on("connect", (client) => void client.on("error", () => {}));
  pool.on("error", () => {});
  const prepared = new WeakSet<PoolClient>();
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => { throw translate(error); });
      if (!prepared.has(client)) {
        try {
          await client.query(session);
        } catch (error) {
          client.release(true);
          throw translate(error);
        }
        prepared.add(client);
      }
      return lend(client);
    },
    end: () => pool.end(),
  };
}

function lend(client: PoolClient): PostgresPoolClient {
  let isBroken = false;
  const query = async (text: string, parameters: readonly unknown[]) => {
    const result = await client.query(text, parameters as unknown[]).catch((error: unknown) => {
      isBroken ||= !(error instanceof DatabaseError);
      throw translate(error);
    });
    // A transaction in which something failed is undone by `commit` too, without a word.
    if (text === "commit" && result.command === "ROLLBACK") throw new Error("the transaction was undone: a statement in it had failed");
    return result;
  };
  return { query: query as unknown as PostgresPoolClient["query"], release: () => client.release(isBroken) };
}

/** What the server answered stays as it is; that there was no answer becomes an error with a code. */
function translate(error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  return new CollectorError("database-unreachable", "PostgreSQL does not answer", { cause: error });
}
