import { Client } from "pg";
import { CollectorError } from "../../errors.ts";

/** One connection for work that may take long. */
export interface PostgresSession {
  /** Each row as its values by column; counts come as text. */
  ask(text: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, string>>[]>;
  close(): Promise<void>;
}

/** @throws CollectorError `database-unreachable`. */
export async function openSession(url: string): Promise<PostgresSession> {
  const client = new Client({ connectionString: url, application_name: "lanthorn-backup", connectionTimeoutMillis: 10_000 });
  // Without a listener the process would end when the server does.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0");
  } catch (cause) {
    await client.end().catch(() => {});
    throw new CollectorError("database-unreachable", `PostgreSQL at ${new URL(url).host} does not answer`, { cause });
  }
  return {
    ask: async (text, values = []) => (await client.query<Record<string, string>>(text, [...values])).rows,
    close: () => client.end(),
  };
}

/** Every table and its rows, and the migrations by name: of one moment, where the session has a snapshot. */
export async function countPostgres(session: PostgresSession): Promise<{
  readonly migrations: readonly string[]; readonly tables: Readonly<Record<string, number>>;
}> {
  const names = await session.ask(`
    select relname as name from pg_catalog.pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`);
  const tables: Record<string, number> = {};
  for (const { name = "" } of names) {
    const [row] = await session.ask(`select count(*) as rows from ${quoteName(name)}`);
    tables[name] = Number(row?.["rows"]);
  }
  const migrations = await session.ask("select name from kysely_migration order by name collate \"C\"");
  return { migrations: migrations.map(({ name = "" }) => name), tables };
}

/** A name as a quoted SQL identifier, safe to put into a statement. @see PostgreSQL manual section 4.1.1 */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
