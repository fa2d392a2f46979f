import type { DatabaseLocation } from "../db/location.ts";
import type { DatabaseCopy, Engine } from "./format/manifest.ts";
import { checkPostgres, copyPostgres } from "./postgres/copy.ts";
import { createPostgresPrograms, type ProgramsSettings } from "./postgres/programs.ts";
import { checkSqlite, copySqlite } from "./sqlite-copy.ts";

/** What is done with the database of a backup, each kind in its way. */
export interface DatabaseTools {
  readonly engine: Engine;
  /** Copies the running database into a file that is not there yet. */
  copy(to: string): Promise<DatabaseCopy>;
  /**
   * Brings a copy up where it disturbs nobody, reads all of it and counts its rows.
   * @throws CollectorError `backup-unreadable` for what is damaged.
   */
  check(file: string): Promise<DatabaseCopy>;
}

/** @param location Of the running database. */
export function createDatabaseTools(location: DatabaseLocation, postgres: ProgramsSettings = {}): DatabaseTools {
  if ("file" in location) {
    return { engine: "sqlite", copy: (to) => copySqlite(location.file, to), check: async (copy) => checkSqlite(copy) };
  }
  const programs = createPostgresPrograms(postgres);
  return {
    engine: "postgres", copy: (to) => copyPostgres(location, to, programs), check: (copy) => checkPostgres(location, copy, programs),
  };
}

/** `sqlite` for a location with a file, otherwise `postgres`. */
export function engineOf(location: DatabaseLocation): Engine {
  return "file" in location ? "sqlite" : "postgres";
}
