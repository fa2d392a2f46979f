import { type Kysely, sql } from "kysely";
import { isPostgres } from "../row-locks.ts";

/** Columns of which each has another name in a database that an earlier build made, with all others of its table. */
const RENAMED = [
  { table: "licenses", column: "published_state", others: ["tenant_id", "license", "uploaded_at", "uploaded_by"] },
  { table: "ipam_conflicts", column: "published", others: ["tenant_id", "site_id", "ip_key", "kinds"] },
] as const;

/**
 * Names the columns by what was published last. A new database has these names from its first migrations; in an older one, the column is
 * the one that is none of its table's others.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const { table, column, others } of RENAMED) {
    const names = await columnsOf(db, table);
    if (names.includes(column)) continue;
    const [old, another] = names.filter((name) => !(others as readonly string[]).includes(name));
    if (old === undefined || another !== undefined) throw new Error(`${table} has the columns ${names.join(", ")}`);
    await db.schema.alterTable(table).renameColumn(old, column).execute();
  }
}

async function columnsOf(db: Kysely<unknown>, table: string): Promise<readonly string[]> {
  const query = isPostgres(db)
    ? sql<{ name: string }>`select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table}`
    : sql<{ name: string }>`select name from pragma_table_info(${table})`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}
