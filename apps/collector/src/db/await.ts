import { type Clock, describeError, type Log, pause } from "@lanthorn/runtime";
import { CollectorError } from "../errors.ts";
import type { DatabaseLocation } from "./location.ts";
import { type Database, openDatabase } from "./open.ts";

const TRY_EVERY_MS = 1000;

/**
 * Opens the database, and waits for a server that is not up yet: after a power cut, machines start in any order.
 * @throws As `openDatabase`; `database-unreachable` only after `waitSeconds`.
 */
export async function awaitDatabase(
  location: DatabaseLocation, options: { readonly waitSeconds: number; readonly clock: Clock; readonly log: Log },
): Promise<Database> {
  const { clock, log } = options;
  const end = clock.monotonic() + options.waitSeconds * 1000;
  for (;;) {
    try {
      const database = await openDatabase(location);
      if (database.advice !== null) log.warn(database.advice);
      return database;
    } catch (error) {
      if (!(error instanceof CollectorError) || error.code !== "database-unreachable" || clock.monotonic() >= end) throw error;
      log.warn({ reason: describeError(error) }, "waiting for the database");
      await pause(clock, TRY_EVERY_MS);
    }
  }
}
