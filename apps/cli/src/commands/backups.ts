import { readAll } from "@lanthorn/client";
import type { Backup } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

/** Thirty requests a minute, half of what the least allowed may make. */
const LOOK_EVERY_MS = 2000;

export async function listBackups({ rest }: Connection): Promise<Answer> {
  const backups: Backup[] = [];
  for await (const backup of readAll(rest.listBackups)) backups.push(backup);
  return answer(backups, backups);
}

/**
 * Starts a backup; with `wait`, stays until it has ended.
 * @throws CliError `ended` when the backup that is waited for has failed.
 */
export async function createBackup(
  { rest }: Connection, { wait }: { readonly wait: boolean }, { clock }: { readonly clock: Pick<Clock, "after"> },
): Promise<Answer> {
  let backup = await rest.startBackup();
  if (!wait) return answer(backup, [backup]);
  while (backup.status === "running") {
    await new Promise<void>((resolve) => void clock.after(LOOK_EVERY_MS, resolve));
    backup = await rest.readBackup(backup.id);
  }
  if (backup.status === "failed") throw new CliError("ended", `the backup failed: ${backup.error ?? "for no known reason"}`);
  return answer(backup, [backup]);
}

function answer(json: unknown, backups: readonly Backup[]): Answer {
  return {
    json,
    table: {
      heading: ["CREATED", "STATUS", "TRIGGER", "BYTES", "ROWS", "FILE", "ID"],
      rows: backups.map(({ created_at: at, status, trigger, size_bytes: size, rows, available, error, id }) => [
        at, error === null ? status : `${status}: ${error}`, trigger, String(size ?? "-"), String(rows ?? "-"), available ? "here" : "-", id,
      ]),
    },
  };
}
