import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** An open database: two ways to it. Both are closed by `close`, after everything that uses them. */
export interface Database {
  /** Writes. SQLite has one connection for it, so whoever holds a transaction keeps all others waiting; PostgreSQL has a pool. */
  readonly db: Kysely<Schema>;
  /**
   * Other connections, for reading alone: they see what is committed, and wait for no transaction. Read long lists by pages:
   * while one query of a connection is streamed, no other can run on it.
   */
  readonly reads: Kysely<Schema>;
  readonly close: () => Promise<void>;
  /** What whoever runs the collector is to know and do, in one line; null where all is well. */
  readonly advice: string | null;
}

/** What is to be done to a database before anybody else of this process uses it. */
export type Prepare = (db: Kysely<Schema>) => Promise<void>;
