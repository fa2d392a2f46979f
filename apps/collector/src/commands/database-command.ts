import { existsSync } from "node:fs";
import type { Configuration } from "../configuration.ts";
import { type Database, openDatabase } from "../db/open.ts";
import { CollectorError } from "../errors.ts";

/**
 * Opens the collector's database for a command beside the daemon, for as long as `work` lasts.
 * @throws CollectorError `admin-refused` where there is none yet: made here, it would belong to whoever runs this, and not to the
 * daemon's user.
 */
export async function withDatabase<T>(configuration: Configuration, work: (db: Database["db"]) => Promise<T>): Promise<T> {
  const { database_location: location } = configuration;
  if ("file" in location && !existsSync(location.file)) {
    throw new CollectorError("admin-refused", `there is no database ${location.file}: start the collector once`);
  }
  const database = await openDatabase(location);
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}
