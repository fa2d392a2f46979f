import { type Kysely, sql, type Transaction } from "kysely";
import { isPostgres } from "../row-locks.ts";
import type { Schema } from "../schema.ts";

/**
 * A transaction whose commit does not wait for the disk. It is whole and in order, and outlives this process however that ends; a power
 * failure within about a second, or a crash of PostgreSQL's server, may undo it. The next ordinary commit brings it to the disk with itself.
 * For what may happen twice.
 * @returns What `work` returns; its failure undoes the transaction.
 * @see https://www.sqlite.org/pragma.html#pragma_synchronous NORMAL
 * @see https://www.postgresql.org/docs/current/wal-async-commit.html
 */
export async function commitUnflushed<T>(db: Kysely<Schema>, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
  if (isPostgres(db)) {
    return db.transaction().execute(async (trx) => {
      await sql`set local synchronous_commit = off`.execute(trx);
      return work(trx);
    });
  }
  // SQLite sets it for the connection, and between transactions only. There is one that writes, and nobody else has it meanwhile.
  return db.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await connection.transaction().execute(work);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}
