import { type Kysely, type Migration, Migrator, sql } from "kysely";
import { CollectorError } from "../errors.ts";
import { useByteOrder } from "./keys/byte-order.ts";
import { isPostgres } from "./row-locks.ts";
import type { Schema } from "./schema.ts";

type Migrations = Readonly<Record<string, Migration>>;

/**
 * Brings the tables up to this build, all that is missing in one transaction on PostgreSQL and each migration in one on SQLite.
 * @param place The database as messages name it.
 * @throws CollectorError `database-newer` for one that a later build has migrated; `database-unreadable` otherwise.
 */
export async function migrate(db: Kysely<Schema>, migrations: Migrations, place: string): Promise<void> {
  if (await isUpToDate(db, migrations)) return;
  const migrator = new Migrator({
    db, provider: { getMigrations: () => Promise.resolve(isPostgres(db) ? inByteOrder(migrations) : { ...migrations }) },
  });
  const known = Object.keys(migrations);
  const applied = (await migrator.getMigrations().catch((cause: unknown) => {
    throw new CollectorError("database-unreadable", `cannot read the database ${place}`, { cause });
  })).filter((migration) => migration.executedAt !== undefined);
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName;
  if (failed === undefined && applied.length >= known.length) {
    throw new CollectorError(
      "database-newer", `${place} was written by a newer version: install that one, or restore a backup`, { cause: error },
    );
  }
  throw new CollectorError("database-unreadable", `cannot migrate ${place}${failed ? ` (${failed})` : ""}`, { cause: error });
}

/** One question, where the migrator asks for every table and column some times over. */
async function isUpToDate(db: Kysely<Schema>, migrations: Migrations): Promise<boolean> {
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch(() => null);
  const known = new Set(Object.keys(migrations));
  return applied?.rows.length === known.size && applied.rows.every(({ name }) => known.has(name));
}

/** With each migration, and in its transaction, so that there is no moment at which texts sort otherwise. */
function inByteOrder(migrations: Migrations): Record<string, Migration> {
  return Object.fromEntries(Object.entries(migrations).map(([name, migration]): [string, Migration] => [name, {
    async up(db: Kysely<Schema>) {
      await migration.up(db);
      await useByteOrder(db);
    },
  }]));
}
