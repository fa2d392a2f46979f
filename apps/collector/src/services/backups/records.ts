import type { Backup } from "@lanthorn/contract";
import type { BackupRow } from "./store.ts";

const NOT_CHECKED = "Only the file's checksum is compared with the one noted when it was made. It is not decrypted, and its database not "
  + "restored or counted: "
  + "give secret_key for that.";

/** A backup's row as the API shows it. */
export function toBackup(row: BackupRow, available: boolean): Backup {
  return {
    id: row.id, status: row.status as Backup["status"], trigger: row.trigger as Backup["trigger"], requested_by: row.requested_by,
    created_at: row.created_at, finished_at: row.finished_at, database: row.engine as Backup["database"], version: row.version,
    recipients: JSON.parse(row.recipients) as string[], size_bytes: row.size_bytes, sha256: row.sha256, tables: row.table_count,
    rows: row.row_count, available, error: row.error,
    verification: toVerification(row),
  };
}

function toVerification(
  { verify_status: status, verify_method: method, verify_error: error, verified_at: at }: BackupRow,
): Backup["verification"] {
  return status === null ? null : ({
    status, method, at, error, not_checked: method === "checksum" ? NOT_CHECKED : null,
  } as Backup["verification"]);
}
