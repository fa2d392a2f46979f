import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, listQuery } from "./envelopes.ts";

export const BACKUP_STATUSES = ["running", "completed", "failed"] as const;

/** A later look at a backup's file. */
const BackupVerification = z.object({
  status: z.enum(["running", "passed", "failed"]),
  /** `checksum`: the bytes are those that were restored and compared when it was made. `restore`: they were once more. */
  method: z.enum(["checksum", "restore"]),
  at: Instant,
  error: z.string().nullable(),
  /** What this method leaves out, in words; null where nothing is. */
  not_checked: z.string().nullable(),
});

/** A copy of the whole deployment, of all its tenants, that only the operator's private key opens. */
export const Backup = z.object({
  id: Id,
  status: z.enum(BACKUP_STATUSES),
  trigger: z.enum(["manual", "scheduled"]),
  /** Who asked for it, by name. */
  requested_by: z.string(),
  created_at: Instant,
  finished_at: Instant.nullable(),
  database: z.enum(["sqlite", "postgres"]),
  /** Of the collector that made it. */
  version: z.string(),
  /** The public keys that it was made for. */
  recipients: z.array(z.string()),
  size_bytes: z.int().min(0).nullable(),
  /** Of the file, in hexadecimal. */
  sha256: z.string().nullable(),
  /** In its database, counted after it was read back. */
  tables: z.int().min(0).nullable(),
  rows: z.int().min(0).nullable(),
  /** Whether its file lies where this collector can read it. */
  available: z.boolean(),
  /** Why it failed. */
  error: z.string().nullable(),
  verification: BackupVerification.nullable(),
});
export type Backup = z.infer<typeof Backup>;

/** Newest first. `status` takes several values with commas. */
export const BackupsQuery = IdPageQuery.extend({ status: listQuery(BACKUP_STATUSES).optional() });
export type BackupsQuery = z.infer<typeof BackupsQuery>;

/** With a private key the backup is restored in a scratch place and counted; the key is kept nowhere. */
export const BackupVerify = z.strictObject({
  /** `AGE-SECRET-KEY-1…`; without it the file's checksum alone is compared. */
  secret_key: z.string().max(1024).optional()
    .meta({ examples: ["AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ8H00W3"] }),
});
export type BackupVerify = z.infer<typeof BackupVerify>;

const SETTINGS = ["schedule", "keep", "recipients"] as const;
const Keep = z.int().min(1).max(10_000);

/** When backups are made by themselves, and for whom. */
export const BackupSettings = z.object({
  /** A cron pattern in the collector's own time zone; null where none are. */
  schedule: z.string().nullable(),
  next_at: Instant.nullable(),
  /** Of scheduled backups this many are kept. */
  keep: Keep,
  /** Public keys; without any there are no backups. */
  recipients: z.array(z.string()),
  /** What the collector's configuration says, and is not to be changed here. */
  fixed: z.array(z.enum(SETTINGS)),
  updated_at: Instant.nullable(),
  updated_by: z.string().nullable(),
});
export type BackupSettings = z.infer<typeof BackupSettings>;

/** Fields left out stay. */
export const BackupSettingsUpdate = z.strictObject({
  /** Minute, hour, day of month, month, day of week; null for none. */
  schedule: z.string().max(100).nullable().optional().meta({ examples: ["30 3 * * *"] }),
  keep: Keep.optional(),
  recipients: z.array(z.string().max(100)).max(16).optional()
    .meta({ examples: [["age1zww8srm0ptlg7l5w5tzr4ggeyg36g5e0n4esl59la9mucrhxwvxsa4dh6y"]] }),
});
export type BackupSettingsUpdate = z.infer<typeof BackupSettingsUpdate>;
