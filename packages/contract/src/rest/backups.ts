import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery, listQuery } from "./envelopes.ts";

export const BACKUP_STATUSES = ["running", "completed", "failed"] as const;

/** A later look at a backup's file. */
const BackupVerification = z.object({
  status: z.enum(["running", "passed", "failed"]).describe("How far it is, or how it ended."),
  method: z.enum(["checksum", "restore"])
    .describe("`checksum`: the file's bytes were compared. `restore`: it was opened, restored in a scratch place and counted."),
  at: Instant.describe("When it began, or ended."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
  not_checked: z.string().nullable().describe("What this method leaves out, in words. Null where nothing is."),
});

/** A copy of the whole deployment, of all its tenants, that only the operator's private key opens. */
export const Backup = z.object({
  id: Id.describe("The backup's id."),
  status: z.enum(BACKUP_STATUSES).describe("`completed` only after it was read back, restored in a scratch place and counted."),
  trigger: z.enum(["manual", "scheduled"]).describe("Whether somebody asked for it or the schedule did."),
  requested_by: z.string().describe("Name of who asked for it."),
  created_at: Instant.describe("When it was started."),
  finished_at: Instant.nullable().describe("When it ended. Null while it runs."),
  database: z.enum(["sqlite", "postgres"]).describe("Which database it is a copy of."),
  version: z.string().describe("Version of the collector that made it."),
  recipients: z.array(z.string()).describe("The public keys (age) that it was sealed to."),
  size_bytes: z.int().min(0).nullable().describe("Size of the file in bytes. Null before it is written."),
  sha256: z.string().nullable().describe("SHA-256 of the file in hexadecimal. Null before it is written."),
  tables: z.int().min(0).nullable().describe("Tables in it, counted after it was read back. Null before that."),
  rows: z.int().min(0).nullable().describe("Rows in it, counted after it was read back. Null before that."),
  available: z.boolean().describe("Whether its file is where this collector can read it."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
  verification: BackupVerification.nullable().describe("The last time that its file was verified later. Null where it never was."),
});
export type Backup = z.infer<typeof Backup>;

/** Newest first. `status` takes several values with commas. */
export const BackupsQuery = IdPageQuery.extend({ 
  status: listQuery(BACKUP_STATUSES).optional().describe("Backups in these states, with commas between them."),
});
export type BackupsQuery = z.infer<typeof BackupsQuery>;

/** With a private key the backup is restored in a scratch place and counted; the key is kept nowhere. */
export const BackupVerify = z.strictObject({
  secret_key: z.string().max(1024).optional()
    .describe("The private key, `AGE-SECRET-KEY-1…`. It is kept nowhere. Without it only the file's checksum is compared.")
    .meta({ examples: ["AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ8H00W3"] }),
});
export type BackupVerify = z.infer<typeof BackupVerify>;

const SETTINGS = ["schedule", "keep"] as const;
const Keep = z.int().min(1).max(10_000);

/** When backups are made by themselves, and for whom. */
export const BackupSettings = z.object({
  schedule: z.string().nullable().describe("A cron pattern in the collector's time zone. Null where no backups are made by themselves."),
  next_at: Instant.nullable().describe("When the next one is made. Null where none is."),
  keep: Keep.describe("How many scheduled backups are kept."),
  recipients: z.array(z.string()).describe("Public keys (age) that backups are sealed to, set on the collector's machine. Without any there are no backups."),
  fixed: z.array(z.enum(SETTINGS)).describe("Settings that the collector's configuration file says. They are changed there only."),
  updated_at: Instant.nullable().describe("When they were last changed here. Null where they never were."),
  updated_by: z.string().nullable().describe("Name of who changed them here. Null where nobody has."),
});
export type BackupSettings = z.infer<typeof BackupSettings>;

/** Fields left out stay. */
export const BackupSettingsUpdate = z.strictObject({
  schedule: z.string().max(100).nullable().optional()
    .describe("A cron pattern: minute, hour, day of month, month, day of week. Null for no backups by themselves.")
    .meta({ examples: ["30 3 * * *"] }),
  keep: Keep.optional().describe("How many scheduled backups are kept."),
});
export type BackupSettingsUpdate = z.infer<typeof BackupSettingsUpdate>;
