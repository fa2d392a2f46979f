import type { Kysely } from "kysely";

/**
 * Tokens whose bearer has given the password once more, for what a stolen token alone must not do. And public keys of backups that were
 * set through the API, by whoever could write settings, count no more: they are set on the collector's machine.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable("confirmed_tokens")
    .addColumn("jti", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("confirmed_until", "text", (c) => c.notNull())
    .execute();
  await (db as Kysely<{ backup_settings: { recipients: string | null } }>).updateTable("backup_settings").set({ recipients: null }).execute();
}
