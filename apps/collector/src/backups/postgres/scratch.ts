import { createId } from "@lanthorn/runtime";
import { CollectorError } from "../../errors.ts";
import { databaseOf, withDatabase } from "./libpq.ts";
import { countPostgres, openSession, type PostgresSession, quoteName } from "./session.ts";

/** A database that nobody else uses, beside the deployment's own on the same server. */
export interface ScratchDatabase {
  readonly name: string;
  readonly url: string;
  /** @throws As the server. */
  ask: PostgresSession["ask"];
  count(): ReturnType<typeof countPostgres>;
  /** Ends this process's own connection to it, after which it can be renamed. */
  letGo(): Promise<void>;
  /** Drops it. */
  close(): Promise<void>;
}

const PREFIX = "lanthorn_scratch_";
/** Of the lock under which scratch databases are made and cleared away; no other program is likely to take it. */
const SCRATCH_LOCK = "7305803291107418";
/**
 * Younger ones are left: the lock is one of a database, and a deployment in another database of this server may have made it and not yet
 * connected to it.
 */
const MIN_AGE_MS = 600_000;
const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Makes one, with the settings of `like`. Those that a process which was killed has left are dropped first: as long as one is used, its
 * maker is connected to it.
 * @param admin Connected to another database of the server.
 * @throws CollectorError `backup-failed` where the user may make none.
 */
export async function createScratch(admin: PostgresSession, url: string): Promise<ScratchDatabase> {
  const name = `${PREFIX}${createId().replaceAll("-", "")}`;
  const scratchUrl = withDatabase(url, name);
  await admin.ask(`select pg_advisory_lock(${SCRATCH_LOCK})`);
  let session: PostgresSession;
  try {
    await clearLeft(admin);
    await make(admin, name, databaseOf(url));
    session = await openSession(scratchUrl);
  } finally {
    await admin.ask(`select pg_advisory_unlock(${SCRATCH_LOCK})`);
  }
  let letGo: Promise<void> | null = null;
  const scratch: ScratchDatabase = {
    name, url: scratchUrl,
    ask: (text, values) => session.ask(text, values),
    count: () => countPostgres(session),
    letGo: () => (letGo ??= session.close()),
    async close() {
      await scratch.letGo();
      await admin.ask(`drop database if exists ${quoteName(name)}`);
    },
  };
  return scratch;
}

async function make(admin: PostgresSession, name: string, like: string): Promise<void> {
  const [model] = await admin.ask(
    "select datcollate as collate, datctype as ctype from pg_database where datname = $1 and datlocprovider = 'c'", [like],
  );
  const locale = model ? ` lc_collate ${quoteText(model["collate"] ?? "")} lc_ctype ${quoteText(model["ctype"] ?? "")}` : "";
  try {
    await admin.ask(`create database ${quoteName(name)} template template0 encoding 'UTF8'${locale}`);
  } catch (cause) {
    if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
    const [{ user = "" } = {}] = await admin.ask("select current_user as user");
    const what = `the user ${user} may make no database, in which a backup is restored and counted: alter role ${quoteName(user)} createdb`;
    throw new CollectorError("backup-failed", what, { cause });
  }
  await admin.ask(`comment on database ${quoteName(name)} is ${quoteText(scratchComment(name, like))}`);
}

/** What an administrator reads who finds a scratch database, by `\l+` of psql. @param like The database whose settings it has. */
export function scratchComment(name: string, like: string): string {
  return `lanthorn-collector made this for the database ${quoteName(like)}: it restores a backup here, counts it and drops this again. `
    + `Where nobody is connected, a process that was killed has left it: drop database ${quoteName(name)};`;
}

async function clearLeft(admin: PostgresSession): Promise<void> {
  const left = await admin.ask(`
    select datname as name from pg_database where datname like '${PREFIX.replaceAll("_", "\\_")}%' and pg_has_role(datdba, 'usage')
      and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)`);
  const [{ now = "0" } = {}] = await admin.ask("select floor(extract(epoch from clock_timestamp()) * 1000)::text as now");
  const isOld = (name: string) => !(Math.abs(Number(now) - madeAt(name)) < MIN_AGE_MS);
  for (const { name = "" } of left.filter(({ name = "" }) => isOld(name))) await admin.ask(`drop database if exists ${quoteName(name)}`).catch(() => []);
}

/** When a scratch database was made, in milliseconds of its maker's clock; NaN for a name of another form. @see RFC 9562 section 5.7 */
function madeAt(name: string): number {
  return Number.parseInt(/^[0-9a-f]{12}(?=7[0-9a-f]{19}$)/.exec(name.slice(PREFIX.length))?.[0] ?? "", 16);
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** SQLSTATE of what the server refused. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
