import type { Migration } from "kysely";
import type { Database, Prepare } from "./handles.ts";
import { type DatabaseLocation, showLocation } from "./location.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/table.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

export type { Database } from "./handles.ts";

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
  return "file" in options ? openSqlite(options.file, prepare) : openPostgres(options, prepare);
}
