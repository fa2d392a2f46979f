/**
 * A URL of ours as PostgreSQL's own programs want it: what only the driver knows goes, and `sslmode` means the same to both.
 * The password is apart, since a program's arguments can be read by everybody on the machine.
 * @see https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
 */
export function forLibpq(text: string): { readonly url: string; readonly password: string | undefined } {
  const url = new URL(text);
  const password = url.password === "" ? (url.searchParams.get("password") ?? undefined) : decodeURIComponent(url.password);
  url.password = "";
  const mode = url.searchParams.get("sslmode");
  // To the driver each of these means what `verify-full` means here, unless another mode is set.
  const isStrict = mode !== null && VERIFIED_MODES.has(mode) && url.searchParams.get("uselibpqcompat") !== "true";
  const strange = [...url.searchParams.keys()].filter((name) => !KNOWN_PARAMETERS.has(name));
  for (const name of strange) url.searchParams.delete(name);
  if (mode === "no-verify") url.searchParams.set("sslmode", "require");
  if (isStrict) {
    url.searchParams.set("sslmode", "verify-full");
    if (!url.searchParams.has("sslrootcert")) url.searchParams.set("sslrootcert", USUAL_AUTHORITIES);
  }
  return { url: url.href, password };
}

/** The same server, another database of it. */
export function withDatabase(text: string, name: string): string {
  const url = new URL(text);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** @returns The database's name. */
export function databaseOf(text: string): string {
  return decodeURIComponent(new URL(text).pathname.slice(1));
}

const VERIFIED_MODES: ReadonlySet<string> = new Set(["prefer", "require", "verify-ca", "verify-full"]);
/** Debian's; libpq looks nowhere by itself. */
const USUAL_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";
/** A parameter that libpq does not know is an error to it. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  "host", "port", "user", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options", "target_session_attrs",
]);
