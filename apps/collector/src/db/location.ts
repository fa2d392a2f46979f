/** A PostgreSQL server and a database of it. */
export interface PostgresLocation {
  /** `postgres://user:password@host:port/name`, with libpq's `sslmode` and `sslrootcert` after `?`. */
  readonly url: string;
  /** Connections of this process for writing, and as many again for reading. */
  readonly poolSize?: number;
  /** After this the server gives a statement up. */
  readonly statementTimeoutSeconds?: number;
}

/** Where the database is: a file of this machine's, or a PostgreSQL server. */
export type DatabaseLocation = { readonly file: string } | PostgresLocation;

/** The location as it may be shown: without user and password. */
export function showLocation(location: DatabaseLocation): string {
  if ("file" in location) return location.file;
  const { host, pathname } = new URL(location.url);
  return `PostgreSQL at ${host}${pathname}`;
}

/** @returns Null for what is neither `sqlite:` and a path nor a URL of PostgreSQL's. */
export function parseLocation(url: string): DatabaseLocation | null {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  if (file !== undefined) return { file };
  return /^postgres(ql)?:\/\/[^/]*\/./.test(url) && URL.canParse(url) ? { url } : null;
}
