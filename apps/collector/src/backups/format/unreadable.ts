import { CollectorError } from "../../errors.ts";

/** What is thrown for a backup that is none, is not whole, or was changed. */
export function unreadable(reason: string, cause?: unknown): CollectorError {
  return new CollectorError("backup-unreadable", `the backup cannot be read: ${reason}`, cause === undefined ? undefined : { cause });
}
