import { type Kysely, type Migration, Migrator } from "kysely";
import { CollectorError } from "../errors.ts";
import type { Schema } from "./schema.ts";

/**
 * Brings the tables up to this build, all that is missing in one transaction on PostgreSQL and each migration in one on SQLite.
 * @param place The database as messages name it.
 * @throws CollectorError `database-newer` for one that a later build has migrated; `database-unreadable` otherwise.
 */
export async function migrate(db: Kysely<Schema>, migrations: Readonly<Record<string, Migration>>, place: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } });
  const known = Object.keys(migrations);
  const applied = (await migrator.getMigrations().catch((cause: unknown) => {
    throw new CollectorError("database-unreadable", `cannot read the database ${place}`, { cause });
  })).filter((migration) => migration.executedAt !== undefined);
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName;
  if (failed === undefined && applied.length >= known.length) {
    throw new CollectorError("database-newer", `${place} was written by a newer version: install that one, or restore a backup`, { cause: error });
  }
  throw new CollectorError("database-unreadable", `cannot bring ${place} up to date${failed ? ` (${failed})` : ""}`, { cause: error });
}
