import { Backup, BackupSettings, type BackupSettingsUpdate, type BackupVerify, listEnvelope } from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const path = (id: string, rest = "") => `/api/v1/backups/${encodeURIComponent(id)}${rest}`;

/** Backups of the whole deployment. */
export const backupCalls = ({ call, download }: Transport) => ({
  startBackup: () => call("POST", "/api/v1/backups", Backup),
  readBackup: (id: string) => call("GET", path(id), Backup),
  listBackups: (query?: Query) => call("GET", "/api/v1/backups", listEnvelope(Backup), { query }),
  /** The sealed file, as it comes. It needs an administrator's own token, and `confirmPassword` before. */
  downloadBackup: (id: string) => download(path(id, "/download")),
  /** Begins to look at a file: see `verification` of the backup for what comes of it. */
  verifyBackup: (id: string, wish: BackupVerify = {}) => call("POST", path(id, "/verify"), Backup, { body: wish }),
  deleteBackup: async (id: string): Promise<void> => void (await call("DELETE", path(id), z.unknown())),
  readBackupSettings: () => call("GET", "/api/v1/backups/settings", BackupSettings),
  updateBackupSettings: (changes: BackupSettingsUpdate) => call("PUT", "/api/v1/backups/settings", BackupSettings, { body: changes }),
});
