import type { Kysely } from "kysely";

/** What people have set of backups, where the configuration leaves it to them: one row, of the whole deployment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable("backup_settings")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("schedule", "text")
    .addColumn("keep", "integer")
    .addColumn("recipients", "text")
    .addColumn("scheduled_at", "text")
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addColumn("updated_by", "text", (c) => c.notNull())
    .execute();
}
