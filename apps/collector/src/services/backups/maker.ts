import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Backup, EventData } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { engineOf } from "../../backups/database-tools.ts";
import type { BackupJob, JobResult } from "../../backups/job.ts";
import type { DatabaseLocation } from "../../db/location.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog, NewEvent } from "../../events/log.ts";
import type { ProcessJob } from "../../jobs/job.ts";
import type { BackupRow, BackupsStore } from "./store.ts";

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
/** Some beats missed: the collector that made it is gone. */
const GONE_AFTER_MS = 60_000;
/** Of whichever collector: a terabyte is read in less. */
const VERIFY_AT_MOST_MS = 6 * 3_600_000;
const MAX_REASON_LENGTH = 1024;
const WORK_FOLDER = /^([\da-f-]{36})\.work$/;

/** @param deps.runJob Runs one job in the child process. @param settings They go into every backup, the signing key among them. */
export function createBackupMaker(
  deps: {
    readonly store: BackupsStore; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
    readonly clock: Clock; readonly logger: Log; readonly runJob: ProcessJob<BackupJob, JobResult>["run"];
  },
  settings: BackupSettings,
): BackupMaker {
  const { store, clock, logger } = deps;
  const working = new Map<string, Promise<void>>();
  let hasSwept = false;
  const now = () => toInstant(clock.now());

  /** Writes how a backup is now and says it, together. */
  const settle = async (
    row: BackupRow, columns: Partial<BackupRow>, event: Pick<NewEvent, "type" | "data">,
    where?: (trx: Transaction<Schema>) => Promise<boolean>,
  ) => {
    const at = now();
    const appended = await store.transaction(async (trx) => {
      if (where && !(await where(trx))) return null;
      await store.set(trx, row.id, columns);
      return deps.log.append(trx, row.tenant_id, [
        { ...event, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at },
      ]);
    });
    if (appended) deps.published(row.tenant_id, appended.fromSeq);
  };
  const failed = (row: BackupRow, reason: string): Pick<NewEvent, "type" | "data"> => ({
    type: "backup_failed", data: { backup_id: row.id, reason: reason.slice(0, MAX_REASON_LENGTH) } satisfies EventData<"backup_failed">,
  });
  const fail = async (row: BackupRow, reason: string) => {
    logger.error({ backup_id: row.id, reason }, "a backup failed");
    const ended = { status: "failed", running_key: null, finished_at: now(), error: reason.slice(0, MAX_REASON_LENGTH) };
    await settle(row, ended, failed(row, reason), (trx) => store.isRunning(trx, row.id));
  };
  const complete = async (row: BackupRow, { sha256, sizeBytes, tables = 0, rows = 0 }: JobResult) => {
    const seconds = Math.max(0, (clock.now() - Date.parse(row.created_at)) / 1000);
    await settle(row, {
      status: "completed", running_key: null, finished_at: now(), size_bytes: sizeBytes, sha256, table_count: tables, row_count: rows,
    }, {
      type: "backup_completed",
      data: { backup_id: row.id, size_bytes: sizeBytes, duration_seconds: seconds } satisfies EventData<"backup_completed">,
    });
    logger.info(
      { backup_id: row.id, size_bytes: sizeBytes, seconds: Math.round(seconds), rows }, "a backup was made, read back and compared",
    );
  };

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
      await complete(row, result);
    } catch (error) {
      await fail(row, describeError(error));
    } finally {
      beat();
    }
  };
  const doVerify = async (row: BackupRow, identities: string | undefined) => {
    const noted = (
      status: "passed" | "failed", error: string | null
    ) => ({ verify_status: status, verify_error: error, verified_at: now() });
    const file = maker.fileOf(row);
    try {
      const { sha256 } = await deps.runJob(identities === undefined ? { kind: "checksum", file } : {
        kind: "restore", id: row.id, file, identities, directory: settings.directory, database: settings.database,
        postgresBin: settings.postgresBin, sha256: row.sha256 ?? "",
      });
      if (sha256 !== row.sha256) throw new Error("its file was changed: its checksum differs");
      const columns = noted("passed", null);
      await store.transaction((trx) => store.set(trx, row.id, columns));
    } catch (error) {
      const reason = describeError(error).slice(0, MAX_REASON_LENGTH);
      logger.error({ backup_id: row.id, reason }, "the verification of a backup failed");
      await settle(row, noted("failed", reason), failed(row, `verification: ${reason}`));
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

    async sweep() {
      const isStart = !hasSwept && settings.isAlone;
      hasSwept = true;
      const running = await store.running();
      // At the start of the only collector there is nobody who could be at work.
      const isDead = ({ id, heard_at: at }: BackupRow) => !working.has(id) && (isStart || at < toInstant(clock.now() - GONE_AFTER_MS));
      for (const row of running.filter(isDead)) await fail(row, "the collector that made it has stopped");
      // What was looked at by a collector that has stopped was not found to be anything.
      await store.forgetVerifications([...working.keys()], isStart ? now() : toInstant(clock.now() - VERIFY_AT_MOST_MS));
      const alive = new Set([...working.keys(), ...running.filter((row) => !isDead(row)).map(({ id }) => id)]);
      for (const name of existsSync(settings.directory) ? readdirSync(settings.directory) : []) {
        const id = WORK_FOLDER.exec(name)?.[1];
        if (id !== undefined && !alive.has(id)) rmSync(join(settings.directory, name), { recursive: true, force: true });
      }
    },
    async close() {
      await Promise.all(working.values());
    },
  };
  return maker;
}
