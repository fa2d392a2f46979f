import * as z from "zod";
import { Id } from "../../values.ts";
import { listEnvelope } from "../envelopes.ts";
import { Backup, BackupSettings, BackupSettingsUpdate, BackupVerify, BackupsQuery } from "../backups.ts";
import { operations } from "../operation.ts";

const OfBackup = z.object({ backup_id: Id });

/** Backups of the whole deployment. */
export const backupsOperations = operations({
  startBackup: { target: "POST /backups", status: 202, answer: Backup },
  listBackups: { target: "GET /backups", query: BackupsQuery, status: 200, answer: listEnvelope(Backup) },
  readBackupSettings: { target: "GET /backups/settings", status: 200, answer: BackupSettings },
  updateBackupSettings: { target: "PUT /backups/settings", body: BackupSettingsUpdate, status: 200, answer: BackupSettings },
  readBackup: { target: "GET /backups/{backup_id}", params: OfBackup, status: 200, answer: Backup },
  /** The sealed file. It needs an administrator's own token, and `confirmPassword` before. */
  downloadBackup: { target: "GET /backups/{backup_id}/download", params: OfBackup, status: 200, content: "application/octet-stream" },
  /** Begins to look at a file: see `verification` of the backup for what comes of it. */
  verifyBackup: { target: "POST /backups/{backup_id}/verify", params: OfBackup, body: BackupVerify, status: 202, answer: Backup },
  deleteBackup: { target: "DELETE /backups/{backup_id}", params: OfBackup, status: 204 },
});
