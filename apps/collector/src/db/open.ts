import type { Migration } from "kysely";
import type { Handles, Prepare } from "./handles.ts";
import { type DatabaseLocation, showLocation } from "./location.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/table.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

/** An open database. Both handles are closed by `close`, after everything that uses them. */
export interface Database extends Handles {
  readonly close: () => Promise<void>;
}

/**
 * Opens the database and brings its tables up to this build. A file is made when it is not there; several processes may open
 * one PostgreSQL database at the same moment, of which one migrates and the others wait for it.
 * @throws CollectorError `database-unreadable` for what is none of ours or cannot be opened; `database-newer` for one that a
 * later build has migrated; `database-unreachable` and `database-unsuitable` for a PostgreSQL that does not answer or will not do.
 */
export async function openDatabase(
  options: DatabaseLocation & { readonly migrations?: Readonly<Record<string, Migration>> },
): Promise<Database> {
  const prepare: Prepare = (db) => migrate(db, options.migrations ?? MIGRATIONS, showLocation(options));
  const { db, reads } = await ("file" in options ? openSqlite(options.file, prepare) : openPostgres(options, prepare));
  return {
    db,
    reads,
    async close() {
      // The last to close folds SQLite's write-ahead log into the file, and a reader is not allowed to.
      await reads.destroy();
      await db.destroy();
    },
  };
}
