import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, listQuery } from "./envelopes.ts";

const BACKUP_STATUSES = ["running", "completed", "failed"] as const;

/** A later verification of a backup's file. */
const BackupVerification = z.object({
  status: z.enum(["running", "passed", "failed"]).describe("The state of the verification."),
  method: z.enum(["checksum", "restore"])
    .describe("`checksum`: the file's bytes were compared. `restore`: it was decrypted, restored into a scratch database and its rows were counted."),
  at: Instant.describe("When it began, or ended."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
  not_checked: z.string().nullable().describe("What this method does not check, as text. Null where it checks everything."),
});

/** A copy of the whole deployment, of all its tenants, that only the operator's private key decrypts. */
export const Backup = z.object({
  id: Id.describe("The backup's id."),
  status: z.enum(BACKUP_STATUSES).describe("`completed` only after it was read back, restored into a scratch database and its rows were counted."),
  trigger: z.enum(["manual", "scheduled"]).describe("Whether a user or the schedule started it."),
  requested_by: z.string().describe("Name of the user who started it."),
  created_at: Instant.describe("When it was started."),
  finished_at: Instant.nullable().describe("When it ended. Null while it runs."),
  database: z.enum(["sqlite", "postgres"]).describe("Which database it is a copy of."),
  version: z.string().describe("Version of the collector that made it."),
  recipients: z.array(z.string()).describe("The public keys (age) that it is encrypted to."),
  size_bytes: z.int().min(0).nullable().describe("Size of the file in bytes. Null before it is written."),
  sha256: z.string().nullable().describe("SHA-256 of the file in hexadecimal. Null before it is written."),
  tables: z.int().min(0).nullable().describe("Tables in it, counted after it was read back. Null before that."),
  rows: z.int().min(0).nullable().describe("Rows in it, counted after it was read back. Null before that."),
  available: z.boolean().describe("Whether this collector can read its file."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
  verification: BackupVerification.nullable().describe("The last verification of its file. Null where there was none."),
});
export type Backup = z.infer<typeof Backup>;

/** Newest first. `status` takes several values with commas. */
export const BackupsQuery = IdPageQuery.extend({ 
  status: listQuery(BACKUP_STATUSES).optional().describe("Backups in these states, with commas between them."),
});
export type BackupsQuery = z.infer<typeof BackupsQuery>;

/** With a private key the backup is restored into a scratch database and its rows are counted. The key is not stored. */
export const BackupVerify = z.strictObject({
  secret_key: z.string().max(1024).optional()
    .describe("The private key, `AGE-SECRET-KEY-1…`. It is not stored. Without it only the file's checksum is compared.")
    .meta({ examples: ["AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ8H00W3"] }),
});
export type BackupVerify = z.infer<typeof BackupVerify>;

const SETTINGS = ["schedule", "keep"] as const;
const Keep = z.int().min(1).max(10_000);

/** The backup schedule and the recipients. */
export const BackupSettings = z.object({
  schedule: z.string().nullable().describe("A cron pattern in the collector's time zone. Null for no scheduled backups."),
  next_at: Instant.nullable().describe("When the next scheduled backup starts. Null where none is scheduled."),
  keep: Keep.describe("How many scheduled backups are kept."),
  recipients: z.array(z.string()).describe("Public keys (age) that backups are encrypted to, set on the collector's machine. Without a key no backup is made."),
  fixed: z.array(z.enum(SETTINGS)).describe("Settings that the collector's configuration file sets. They can only be changed there."),
  updated_at: Instant.nullable().describe("When they were last changed over the API. Null for never."),
  updated_by: z.string().nullable().describe("Name of the user who changed them. Null for nobody."),
});
export type BackupSettings = z.infer<typeof BackupSettings>;

/** Fields left out stay. */
export const BackupSettingsUpdate = z.strictObject({
  schedule: z.string().max(100).nullable().optional()
    .describe("A cron pattern: minute, hour, day of month, month, day of week. Null for no scheduled backups.")
    .meta({ examples: ["30 3 * * *"] }),
  keep: Keep.optional().describe("How many scheduled backups are kept."),
});
export type BackupSettingsUpdate = z.infer<typeof BackupSettingsUpdate>;
