import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { RunBackupJob } from "../../backups/job.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Identity } from "../../gateway/environment.ts";
import { createProcessJob, type Job } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import { type BackupSettings, createBackupMaker } from "./maker.ts";
import { backupsRoutes } from "./routes.ts";
import { createBackupsService } from "./service.ts";
import { createBackupsStore } from "./store.ts";
import { createSettings, type FixedSettings } from "./settings.ts";
import { createMaintenance } from "./maintenance.ts";

/** Backups, and the work behind them. */
export interface Backups extends ServiceModule {
  /** Makes what is due, and ends what a collector that was killed has left. */
  readonly job: Job<void>;
  /** Ends a backup that is being made, as failed. */
  readonly close: () => Promise<void>;
  /** Whose word about the whole deployment counts; null where no tenant is. */
  readonly operatorTenant: () => Promise<string | null>;
}

/** What backups need. `runJob` runs a job in a child process. */
export interface BackupsDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Log;
  readonly runJob: RunBackupJob;
  /** Whether the bearer of a token has just given the password again. */
  readonly isConfirmed: (identity: Identity) => Promise<boolean>;
}

/** With the operator's tenant, where it is not the first one. */
export type BackupOptions = BackupSettings & FixedSettings & { readonly tenant: string | undefined };

/**
 * The service module of backups. Nothing runs before its jobs are started; `close` waits until a running backup is written down as
 * failed.
 */
export function createBackups(deps: BackupsDependencies, options: BackupOptions): Backups {
  const store = createBackupsStore(deps);
  const work = createProcessJob(deps, { name: "backup-files", who: "each replica", run: deps.runJob });
  const maker = createBackupMaker({ ...deps, store, runJob: (job) => work.run(job) }, options);
  const settings = createSettings(deps, options);
  const maintenance = createMaintenance({ ...deps, store, maker, settings }, options.tenant);
  return {
    name: "backups", mount: "gateway", routes: [backupsRoutes(createBackupsService({ ...deps, store, maker, maintenance, settings }))],
    operatorTenant: maintenance.operatorTenant, job: maintenance.job, jobs: [maintenance.job, work],
    async close() {
      await work.close();
      await maker.close();
    },
  };
}
