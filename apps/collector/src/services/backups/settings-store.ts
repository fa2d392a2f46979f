import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";

/** The one row of settings. Null means not set. `recipients` is JSON text; `scheduled_at` is when the schedule was last changed. */
export type BackupSettingsRow = Selectable<Schema["backup_settings"]>;

/** Of the one row. */
export const SETTINGS_ID = "deployment";

/** What was set of backups through the API or by command; undefined for nothing yet. */
export function readSettings(from: Kysely<Schema>): Promise<BackupSettingsRow | undefined> {
  return from.selectFrom("backup_settings").selectAll().where("id", "=", SETTINGS_ID).executeTakeFirst();
}

/** Sets columns of it; those that are not named stay, or are empty where nothing was set yet. */
export async function writeSettings(
  trx: Kysely<Schema>, columns: Partial<Omit<BackupSettingsRow, "id">> & Pick<BackupSettingsRow, "updated_at" | "updated_by">,
): Promise<void> {
  await trx.insertInto("backup_settings").values({ id: SETTINGS_ID, schedule: null, keep: null, recipients: null, scheduled_at: null, ...columns })
    .onConflict((on) => on.column("id").doUpdateSet(columns)).execute();
}
