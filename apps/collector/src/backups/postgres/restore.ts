import { type PostgresLocation, showLocation } from "../../db/location.ts";
import { CollectorError } from "../../errors.ts";
import { databaseOf, withDatabase } from "./libpq.ts";
import { createPostgresPrograms, type ProgramsSettings } from "./programs.ts";
import { createScratch, type ScratchDatabase } from "./scratch.ts";
import { openSession, type PostgresSession, quoteName } from "./session.ts";
import type { RestoreTarget } from "../restore/target.ts";

/** One of these every server has, and whoever may connect at all may usually connect there. */
const MAINTENANCE_DATABASES = ["postgres", "template1"];

/** With the rest it has no more than 63 bytes, all that the server takes. */
const MAX_START = 31;

/**
 * The restored database is made beside the one that is there, counted there, and takes its name: two renamings in one transaction. It keeps
 * nothing that an administrator has set for the one before (`alter database … set`, `grant connect`).
 * @throws CollectorError `restore-refused` where somebody is connected to it; `database-unreachable`.
 */
export async function targetPostgres(location: PostgresLocation, settings: ProgramsSettings): Promise<RestoreTarget> {
  const { url } = location;
  const name = databaseOf(url);
  const programs = createPostgresPrograms(settings);
  const admin = await openMaintenance(url, name);
  let scratch: ScratchDatabase | null = null;
  let isPlaced = false;
  const refuseUsed = async () => {
    const [used] = await admin.ask(
      "select count(*) as connections, min(application_name) as who from pg_stat_activity where datname = $1", [name],
    );
    if (Number(used?.["connections"]) > 0) throw inUse(location, used?.["who"]);
  };
  try {
    const [there] = await admin.ask("select 1 as one from pg_database where datname = $1", [name]);
    const isThere = there !== undefined;
    const hasTables = isThere && (await holdsTables(url));
    await refuseUsed();
    return {
      present: hasTables ? showLocation(location) : null, folder: null, databaseFile: null,
      tools: {
        engine: "postgres",
        async check(copy) {
          scratch = await createScratch(admin, url);
          await programs.restore(copy, scratch);
          return { file: copy, engine: "postgres", ...(await scratch.count()) };
        },
      },
      async prepare(_copy, { keepsSecrets }) {
        // As in SQLite's: the backup that it was taken by.
        await scratch?.ask("delete from backups where running_key is not null");
        if (!keepsSecrets) await scratch?.ask("delete from kept_secrets");
        await scratch?.ask("analyze");
      },
      async swap(stamp) {
        if (scratch === null) throw new CollectorError("restore-refused", "there is nothing to restore");
        const before = `${name.slice(0, MAX_START)}_before_restore_${stamp.toLowerCase()}`;
        await scratch.letGo();
        await refuseUsed();
        await admin.ask("begin");
        try {
          if (isThere) await admin.ask(`alter database ${quoteName(name)} rename to ${quoteName(before)}`);
          await admin.ask(`alter database ${quoteName(scratch.name)} rename to ${quoteName(name)}`);
          await admin.ask(`comment on database ${quoteName(name)} is null`);
          await admin.ask("commit");
        } catch (cause) {
          await admin.ask("rollback");
          const reason = cause instanceof Error ? cause.message : "";
          throw new CollectorError("restore-refused", `${showLocation(location)} cannot be replaced: ${reason}`, { cause });
        }
        isPlaced = true;
        if (!hasTables && isThere) await admin.ask(`drop database ${quoteName(before)}`);
        return hasTables ? `the database ${before}` : null;
      },
      async close() {
        if (!isPlaced) await scratch?.close();
        await admin.close();
      },
    };
  } catch (error) {
    await admin.close();
    throw error;
  }
}

async function openMaintenance(url: string, name: string): Promise<PostgresSession> {
  const others = MAINTENANCE_DATABASES.filter((other) => other !== name);
  const failures: unknown[] = [];
  for (const other of others) {
    try {
      return await openSession(withDatabase(url, other));
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

async function holdsTables(url: string): Promise<boolean> {
  const session = await openSession(url);
  try {
    return (await session.ask(
      "select 1 as one from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') limit 1",
    )).length > 0;
  } finally {
    await session.close();
  }
}

function inUse(location: PostgresLocation, who: string | undefined): CollectorError {
  const by = who === undefined || who === "" ? "" : ` by ${who}`;
  return new CollectorError(
    "restore-refused", `${showLocation(location)} is in use${by}: stop the collector first (systemctl stop lanthorn-collector)`,
  );
}
