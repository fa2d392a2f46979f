import { dirname } from "node:path";
import type { PostgresLocation } from "../../db/location.ts";
import type { DatabaseCopy } from "../format/manifest.ts";
import type { PostgresPrograms } from "./programs.ts";
import { createScratch } from "./scratch.ts";
import { countPostgres, openSession } from "./session.ts";
import { requireFreeSpace } from "../free-space.ts";

/**
 * Copies a database that others write to, as of one moment: what is counted and what is dumped is the same snapshot.
 * @param to A file that is not there yet, in a directory that is.
 * @throws CollectorError `backup-failed` where there is not enough room, and as `PostgresPrograms.dump`.
 */
export async function copyPostgres({ url }: Pick<PostgresLocation, "url">, to: string, programs: PostgresPrograms): Promise<DatabaseCopy> {
  const session = await openSession(url);
  try {
    await session.ask("begin transaction isolation level repeatable read read only");
    const [about] = await session.ask(`
      select pg_export_snapshot() as snapshot, current_setting('server_version_num')::int / 10000 as version,
        pg_database_size(current_database()) as bytes`);
    const { snapshot = "", version, bytes } = about ?? {};
    // A dump has no indexes, and is smaller therefore.
    requireFreeSpace(dirname(to), Number(bytes));
    const found = await countPostgres(session);
    await programs.dump({ url, snapshot, serverVersion: Number(version) }, to);
    return { file: to, engine: "postgres", ...found };
  } finally {
    await session.close();
  }
}

/**
 * Restores a dump into a database made for it, which checks every key and constraint, and counts its rows.
 * @throws CollectorError `backup-unreadable` with what is wrong; `backup-failed` where no database can be made.
 */
export async function checkPostgres(
  { url }: Pick<PostgresLocation, "url">, file: string, programs: PostgresPrograms,
): Promise<DatabaseCopy> {
  const admin = await openSession(url);
  try {
    const scratch = await createScratch(admin, url);
    try {
      await programs.restore(file, scratch);
      return { file, engine: "postgres", ...(await scratch.count()) };
    } finally {
      await scratch.close();
    }
  } finally {
    await admin.close();
  }
}
