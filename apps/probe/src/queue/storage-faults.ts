import { SqliteError } from "better-sqlite3";

/**
 * What an error from the database means for the file.
 * @returns `corrupt`: the file cannot be used any more. `unavailable`: it cannot be written now and may be later, as with
 * a full disk. Null: no fault of the storage, but of the program.
 * @see https://www.sqlite.org/rescode.html
 */
export function classifyStorageFault(error: unknown): "corrupt" | "unavailable" | null {
  if (!(error instanceof SqliteError)) return null;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) return "corrupt";
  // A full disk shows as FULL from a write, and as IOERR from growing the log. READONLY is a file system gone read-only.
  if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|NOMEM|BUSY)/.test(error.code)) return "unavailable";
  return null;
}
