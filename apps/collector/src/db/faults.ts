/** What SQLite says of the data in hand and not of itself. @see https://www.sqlite.org/rescode.html */
const SQLITE_DATA_FAULTS = ["SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG", "SQLITE_RANGE"];

/**
 * PostgreSQL's classes for the same: data exceptions, integrity, what was raised on purpose, limits.
 * @see https://www.postgresql.org/docs/15/errcodes-appendix.html
 */
const POSTGRES_DATA_FAULTS = ["22", "23", "P0", "54"];

/** Whether the database could not do its work, whatever the work was: full, locked, away, broken. */
export function isStorageFault(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== "string") return false;
  if (code.startsWith("SQLITE_")) return !SQLITE_DATA_FAULTS.some((fault) => code.startsWith(fault));
  if (code === "database-unreachable") return true;
  return /^[0-9A-Z]{5}$/.test(code) && !POSTGRES_DATA_FAULTS.some((fault) => code.startsWith(fault));
}

/** Connections that broke or were refused, a server that stops or starts. */
const AWAY = ["08", "57P01", "57P02", "57P03", "53300"];

/** Whether the database cannot be spoken with now, and may be in a moment. */
export function isAway(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === "database-unreachable"
    || (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && AWAY.some((fault) => code.startsWith(fault)));
}

/** SQLite on a full disk, also where its shared memory cannot grow; PostgreSQL's `disk_full`. */
const FULL: ReadonlySet<unknown> = new Set(["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "53100"]);

/** Whether there is no room for what was to be written. */
export function isFull(error: unknown): boolean {
  return FULL.has((error as { readonly code?: unknown }).code);
}
