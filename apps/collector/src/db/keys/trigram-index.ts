import { type Kysely, sql } from "kysely";
import { DatabaseError } from "pg";
import type { Schema } from "../schema.ts";

/** The index by which PostgreSQL searches devices' texts. Backups leave it out, and the next start makes it again. */
export const TRIGRAM_INDEX = "device_texts_trigrams";

/**
 * Makes the index that search wants, with the extension that it takes, unless it is there. Without it search finds the same and reads
 * every name, address and MAC of the tenant. Nobody else may change tables meanwhile.
 * @returns What to do where the server does not let us; null where all is well.
 * @see https://www.postgresql.org/docs/15/pgtrgm.html
 */
export async function makeTrigramIndex(db: Kysely<Schema>): Promise<string | null> {
  const { rows: [there] } = await sql<{ table: string | null; index: string | null }>`
    select to_regclass('device_texts')::text as table, to_regclass(${TRIGRAM_INDEX})::text as index`.execute(db);
  if (!there?.table || there.index) return null;
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return "searching devices is slow without the extension pg_trgm: install PostgreSQL's contrib modules, run `create extension pg_trgm` "
      + `in this database as its owner or a superuser, and start the collector again (${error.message})`;
  }
  // Whoever made the extension may have put it where names are not looked up.
  const { rows: [extension] } = await sql<{ schema: string }>`
    select extnamespace::regnamespace::text as schema from pg_extension where extname = 'pg_trgm'`.execute(db);
  const operators = sql.raw(`${extension?.schema}.gin_trgm_ops`);
  await sql`create index ${sql.raw(TRIGRAM_INDEX)} on device_texts
    using gin (hostname ${operators}, ips ${operators}, macs ${operators})`.execute(db);
  return null;
}
