import { basename } from "node:path";
import type { RestClient } from "@lanthorn/client";
import type { Backup, BackupSettings, BackupSettingsUpdate } from "@lanthorn/contract";
import { type Clock, pause } from "@lanthorn/runtime";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";
import { saveFile } from "../save-file.ts";

/** Thirty requests a minute, half of what the least allowed may make. */
const LOOK_EVERY_MS = 2000;

/** Newest first, all pages. */
export async function listBackups({ rest }: Connection): Promise<Answer> {
  const backups = await collect(rest.listBackups);
  return answer(backups, backups);
}

/**
 * Starts a backup; with `wait`, stays until it has ended.
 * @throws CliError `ended` when the backup that is waited for has failed.
 */
export async function createBackup(
  { rest }: Connection, { wait }: { readonly wait: boolean }, { clock }: { readonly clock: Pick<Clock, "after"> },
): Promise<Answer> {
  const started = await rest.startBackup();
  if (!wait) return answer(started, [started]);
  const backup = await settled(rest, started, clock, ({ status }) => status !== "running");
  if (backup.status === "failed") throw new CliError("ended", `the backup failed: ${backup.error ?? "for no known reason"}`);
  return answer(backup, [backup]);
}

/** With the result of its last verification below the table, where there was one. */
export async function showBackup({ rest }: Connection, id: string): Promise<Answer> {
  const backup = await rest.readBackup(id);
  return { ...answer(backup, [backup]), notes: backup.verification === null ? [] : [describeVerification(backup)] };
}

/**
 * Looks at a backup's file once more, and stays until it is known what comes of it.
 * @param options.keyFile With the private key, for a look into it; `-` for standard input. Without it the checksum alone is compared.
 * @throws CliError `ended` when it did not stand it.
 */
export async function verifyBackup(
  { rest }: Connection, id: string, { keyFile }: { readonly keyFile?: string },
  { clock, input }: { readonly clock: Pick<Clock, "after">; readonly input: Pick<Input, "readAll"> },
): Promise<Answer> {
  const key = keyFile === undefined ? undefined : await readText(keyFile, input);
  const begun = await rest.verifyBackup(id, key === undefined ? {} : { secret_key: key });
  const backup = await settled(rest, begun, clock, ({ verification }) => verification?.status !== "running");
  if (backup.verification?.status !== "passed") throw new CliError("ended", describeVerification(backup));
  return { json: backup, text: describeVerification(backup) };
}

/**
 * Asks for the password, which a download needs once more, unless a file holds it.
 * @param options.out The file that is written, which may not be there; without it, one of the backup's own name.
 * @param options.passwordFile `-` for standard input.
 */
export async function downloadBackup(
  { rest }: Connection, id: string, { out, passwordFile }: { readonly out?: string; readonly passwordFile?: string }, input: Input,
): Promise<Answer> {
  const backup = await rest.readBackup(id);
  const file = out ?? basename(`lanthorn-backup-${backup.created_at.replaceAll(/[-:]|\.\d+/g, "")}-${backup.id}.tar.gz.age`);
  const password = passwordFile === undefined ? await input.askSecret("Your password: ") : (await readText(passwordFile, input)).trimEnd();
  await rest.confirmPassword({ password });
  await saveFile(file, await rest.downloadBackup(id));
  return { json: { id, file }, text: `${file}, sha256 ${backup.sha256 ?? "unknown"}` };
}

/** Deletes the record and, with it, the file on the collector's machine. */
export async function deleteBackup({ rest }: Connection, id: string): Promise<Answer> {
  await rest.deleteBackup(id);
  return { json: { id, state: "deleted" }, text: `deleted ${id}` };
}

/** The schedule and the keys that backups are encrypted to. */
export async function showBackupSettings({ rest }: Connection): Promise<Answer> {
  return answerSettings(await rest.readBackupSettings());
}

/** What is not given stays. */
export async function setBackupSettings({ rest }: Connection, changes: BackupSettingsUpdate): Promise<Answer> {
  if (Object.keys(changes).length === 0) {
    throw new CliError("bad-option", "give at least one of --schedule, --no-schedule, --keep");
  }
  return answerSettings(await rest.updateBackupSettings(changes));
}

async function settled(
  rest: Pick<RestClient, "readBackup">, from: Backup, clock: Pick<Clock, "after">, isOver: (backup: Backup) => boolean,
): Promise<Backup> {
  let backup = from;
  while (!isOver(backup)) {
    await pause(clock, LOOK_EVERY_MS);
    backup = await rest.readBackup(backup.id);
  }
  return backup;
}

function describeVerification({ verification }: Backup): string {
  if (verification === null) return "not verified since it was made";
  const { status, method, at, error, not_checked: left } = verification;
  return [`verification (${method}) ${status} at ${at}${error === null ? "" : `: ${error}`}`, ...(left === null ? [] : [left])].join("\n");
}

function answerSettings(settings: BackupSettings): Answer {
  const { schedule, next_at: next, keep, recipients, fixed } = settings;
  return {
    json: settings,
    table: {
      heading: ["SCHEDULE", "NEXT", "KEEP", "PUBLIC KEYS"],
      rows: [[schedule ?? "-", next ?? "-", String(keep), recipients.join(" ") || "none: no backups are made"]],
    },
    notes: fixed.length === 0 ? [] : [`The collector's configuration file sets: ${fixed.join(", ")}.`],
  };
}

function answer(json: unknown, backups: readonly Backup[]): Answer {
  return {
    json,
    table: {
      heading: ["CREATED", "STATUS", "TRIGGER", "BYTES", "ROWS", "FILE", "ID"],
      rows: backups.map(({ created_at: at, status, trigger, size_bytes: size, rows, available, error, id }) => [
        at, error === null ? status : `${status}: ${error}`, trigger, String(size ?? "-"), String(rows ?? "-"), available ? "here" : "-",
        id,
      ]),
    },
  };
}
