/** SQLite's extended result codes, and PostgreSQL's class 23. @see https://www.postgresql.org/docs/15/errcodes-appendix.html */
const UNIQUE = new Set(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"]);
const FOREIGN_KEY = new Set(["SQLITE_CONSTRAINT_FOREIGNKEY", "23503"]);

/** Whether a statement failed because there is such a row already. */
export function isDuplicate(error: unknown): boolean {
  return UNIQUE.has(codeOf(error));
}

/** Whether a statement failed because other rows stand on the row that was to go. */
export function isStillUsed(error: unknown): boolean {
  return FOREIGN_KEY.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
