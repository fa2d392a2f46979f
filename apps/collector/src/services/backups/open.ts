import { join } from "node:path";
import { secretsOf } from "../../backups/data-files.ts";
import { backupTask } from "../../backups/job.ts";
import { inProcess } from "../../jobs/process.ts";
import type { DatabaseLocation } from "../../db/location.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import type { BackupsSettings } from "./configuration.ts";
import { type Backups, type BackupsDependencies, createBackups } from "./backups.ts";

/** @param program How this collector's own program is run, for the processes that do the work. */
export function openBackups(
  configuration: Parameters<typeof secretsOf>[0] & {
    readonly backups: BackupsSettings; readonly data_dir: string; readonly database_location: DatabaseLocation;
  },
  deps: Omit<BackupsDependencies, "runJob">,
  { program, version, signingKey }: {
    readonly program: readonly [string, ...string[]]; readonly version: string; readonly signingKey: string;
  },
): Backups {
  const { backups, data_dir: dataDir, database_location: database } = configuration;
  return createBackups({ ...deps, runJob: inProcess(program, backupTask) }, {
    recipients: backups.recipients, directory: backups.directory ?? join(dataDir, "backups"), dataDir, database,
    postgresBin: backups.postgres_bin, secrets: secretsOf(configuration), includeKeys: backups.include_keys, signingKey,
    version, isAlone: !hasRowLocks(deps.db),
    schedule: backups.schedule, keep: backups.keep, tenant: backups.tenant,
  });
}
