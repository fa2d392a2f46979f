import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Backup } from "@lanthorn/contract";
import { type Clock, createId, describeError, toInstant } from "@lanthorn/runtime";
import { engineOf } from "../../backups/database-tools.ts";
import type { BackupJob, JobResult } from "../../backups/job.ts";
import type { DatabaseLocation } from "../../db/location.ts";
import type { ProcessJob } from "../../jobs/job.ts";
import { type BackupOutcomesDependencies, createBackupOutcomes } from "./outcomes.ts";
import type { BackupRow } from "./store.ts";
import { createBackupSweep } from "./sweep.ts";

/** What every backup of this collector has in common. */
export interface BackupSettings {
  readonly directory: string;
  readonly dataDir: string;
  readonly database: DatabaseLocation;
  /** The folder with PostgreSQL's own programs, where that is not on the path. */
  readonly postgresBin: string | undefined;
  /** Files of the data directory that the configuration holds instead, by their names. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly includeKeys: boolean;
  /** With which they are signed: Ed25519, PEM. */
  readonly signingKey: string;
  readonly version: string;
  /** Whether this is the only collector on its database, so that nobody else's backup can be running. */
  readonly isAlone: boolean;
}

/** Makes and verifies backups in a child process. `make` and `verify` return when the result is in the database. */
export interface BackupMaker {
  /** The row of a backup that begins now. */
  draft(by: {
    readonly tenantId: string; readonly trigger: Backup["trigger"]; readonly requestedBy: string; readonly recipients: readonly string[];
  }): BackupRow;
  /** Makes what was added, and writes down what became of it. It never rejects. */
  make(row: BackupRow): Promise<void>;
  /** Looks at a completed one's file once more, and writes down what it finds. It never rejects. */
  verify(row: BackupRow, identities: string | undefined): Promise<void>;
  fileOf(row: Pick<BackupRow, "file_name">): string;
  isAvailable(row: Pick<BackupRow, "file_name" | "status">): boolean;
  /** Ends what nobody works on any more, and clears what it has left on the disk. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const RUNNING_KEY = "running";
const HEARD_EVERY_MS = 10_000;

/** @param deps.runJob Runs one job in the child process. @param settings They go into every backup, the signing key among them. */
export function createBackupMaker(
  deps: BackupOutcomesDependencies & { readonly clock: Clock; readonly runJob: ProcessJob<BackupJob, JobResult>["run"] },
  settings: BackupSettings,
): BackupMaker {
  const { store, clock, logger } = deps;
  const outcomes = createBackupOutcomes(deps);
  const working = new Map<string, Promise<void>>();
  const now = () => toInstant(clock.now());

  /** What the database refuses is tried again by the next sweep, which finds nobody at work. */
  const inBackground = (row: BackupRow, work: () => Promise<void>): Promise<void> => {
    const all = work().catch((error: unknown) =>
      logger.error({ backup_id: row.id, reason: describeError(error) }, "the result of a backup could not be stored"));
    const ended = all.finally(() => working.delete(row.id));
    working.set(row.id, ended);
    return ended;
  };
  const doMake = async (row: BackupRow) => {
    const beat = clock.every(HEARD_EVERY_MS, () => {
      store.heard(row.id, now()).catch((error: unknown) => logger.warn(
        { reason: describeError(error) }, "a backup's progress could not be stored",
      ));
    });
    try {
      const { directory, dataDir, database, postgresBin, secrets, includeKeys, signingKey, version } = settings;
      const result = await deps.runJob({
        kind: "write", id: row.id, version, createdAt: row.created_at, dataDir, database, postgresBin,
        secrets: includeKeys ? secrets : {}, includeKeys, signingKey,
        recipients: JSON.parse(row.recipients) as string[], directory, name: row.file_name,
      });
      await outcomes.completed(row, result);
    } catch (error) {
      await outcomes.failed(row, describeError(error));
    } finally {
      beat();
    }
  };
  const doVerify = async (row: BackupRow, identities: string | undefined) => {
    const file = maker.fileOf(row);
    try {
      const { sha256 } = await deps.runJob(identities === undefined ? { kind: "checksum", file } : {
        kind: "restore", id: row.id, file, identities, directory: settings.directory, database: settings.database,
        postgresBin: settings.postgresBin, sha256: row.sha256 ?? "",
      });
      if (sha256 !== row.sha256) throw new Error("its file was changed: its checksum differs");
      await outcomes.verified(row);
    } catch (error) {
      await outcomes.verificationFailed(row, describeError(error));
    }
  };

  const maker: BackupMaker = {
    draft({ tenantId, trigger, requestedBy, recipients }) {
      const [id, at] = [createId(), now()];
      return {
        id, tenant_id: tenantId, status: "running", running_key: RUNNING_KEY, trigger, requested_by: requestedBy, created_at: at,
        heard_at: at, finished_at: null, engine: engineOf(settings.database), version: settings.version,
        recipients: JSON.stringify(recipients),
        file_name: `lanthorn-${at.replaceAll(/[-:]|\.\d+/g, "")}-${id}.tar.gz.age`, size_bytes: null, sha256: null, table_count: null,
        row_count: null, error: null, verify_status: null, verify_method: null, verify_error: null, verified_at: null,
      };
    },
    make: (row) => inBackground(row, () => doMake(row)),
    verify: (row, identities) => inBackground(row, () => doVerify(row, identities)),
    fileOf: ({ file_name: name }) => join(settings.directory, name),
    isAvailable: (row) => row.status === "completed" && existsSync(maker.fileOf(row)),

    sweep: createBackupSweep({ store, outcomes, clock, working }, settings),
    async close() {
      await Promise.all(working.values());
    },
  };
  return maker;
}
