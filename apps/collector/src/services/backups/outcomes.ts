import type { EventData } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { JobResult } from "../../backups/job.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog, NewEvent } from "../../events/log.ts";
import type { BackupRow, BackupsStore } from "./store.ts";

/** Records what became of a backup, with the event that says so in the same transaction. */
export interface BackupOutcomes {
  completed(row: BackupRow, result: JobResult): Promise<void>;
  /** Nothing is changed where the backup has ended already. */
  failed(row: BackupRow, reason: string): Promise<void>;
  verified(row: BackupRow): Promise<void>;
  verificationFailed(row: BackupRow, reason: string): Promise<void>;
}

/** What recording outcomes needs. */
export interface BackupOutcomesDependencies {
  readonly store: BackupsStore;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Log;
}

const MAX_REASON_LENGTH = 1024;

/** Outcomes over the collector's database and event log. */
export function createBackupOutcomes({ store, log, published, clock, logger }: BackupOutcomesDependencies): BackupOutcomes {
  const now = () => toInstant(clock.now());
  /** Writes how a backup is now and the event about it, together. */
  const settle = async (
    row: BackupRow, columns: Partial<BackupRow>, event: Pick<NewEvent, "type" | "data">,
    where?: (trx: Transaction<Schema>) => Promise<boolean>,
  ) => {
    const at = now();
    const appended = await store.transaction(async (trx) => {
      if (where && !(await where(trx))) return null;
      await store.set(trx, row.id, columns);
      return log.append(trx, row.tenant_id, [
        { ...event, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at },
      ]);
    });
    if (appended) published(row.tenant_id, appended.fromSeq);
  };
  const failure = (row: BackupRow, reason: string): Pick<NewEvent, "type" | "data"> => ({
    type: "backup_failed", data: { backup_id: row.id, reason: reason.slice(0, MAX_REASON_LENGTH) } satisfies EventData<"backup_failed">,
  });
  const verification = (status: "passed" | "failed", error: string | null) => ({ verify_status: status, verify_error: error, verified_at: now() });

  return {
    async completed(row, { sha256, sizeBytes, tables = 0, rows = 0 }) {
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
    },

    async failed(row, reason) {
      logger.error({ backup_id: row.id, reason }, "a backup failed");
      const ended = { status: "failed", running_key: null, finished_at: now(), error: reason.slice(0, MAX_REASON_LENGTH) };
      await settle(row, ended, failure(row, reason), (trx) => store.isRunning(trx, row.id));
    },

    async verified(row) {
      const columns = verification("passed", null);
      await store.transaction((trx) => store.set(trx, row.id, columns));
    },

    async verificationFailed(row, reason) {
      const text = reason.slice(0, MAX_REASON_LENGTH);
      logger.error({ backup_id: row.id, reason: text }, "the verification of a backup failed");
      await settle(row, verification("failed", text), failure(row, `verification: ${text}`));
    },
  };
}
