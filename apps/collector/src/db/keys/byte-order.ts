import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";

/**
 * Makes PostgreSQL order and compare every text as SQLite does, by its bytes, whatever language the database was made for:
 * times, addresses' keys and ids sort as they were made to, and pages of a list meet where both databases say.
 */
export async function useByteOrder(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ table_name: string; columns: readonly string[] }>`
    select c.table_name, json_agg(c.column_name) as columns from information_schema.columns c
    join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
    where c.table_schema = current_schema() and c.data_type = 'text' and c.collation_name is distinct from 'C' group by c.table_name`
      .execute(db);
  for (const { table_name: table, columns } of rows) {
    const changes = columns.map((column) => sql`alter column ${sql.ref(column)} type text collate "C"`);
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
  }
}
