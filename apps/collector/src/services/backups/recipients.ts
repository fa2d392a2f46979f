import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { CollectorError } from "../../errors.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createBackupsStore } from "./store.ts";
import { readSettings, SETTINGS_ID, writeSettings } from "./settings-store.ts";

/** The public keys that were set on this machine; the configuration's count instead where it has any. */
export async function readRecipients(db: Kysely<Schema>): Promise<readonly string[]> {
  const row = await readSettings(db);
  return JSON.parse(row?.recipients ?? "[]") as string[];
}

/**
 * Sets them, for the operator at the machine: nothing that the API serves does. It is in the audit log of the operator's tenant.
 * @param recipients Public keys, `age1…`, that were checked; none to make no backups.
 * @throws CollectorError `admin-refused` where there is no tenant yet.
 */
export async function setRecipients(
  deps: { readonly db: Kysely<Schema>; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly operator: string },
  recipients: readonly string[], tenant: string | undefined,
): Promise<void> {
  const { db, audit, clock, operator } = deps;
  const tenantId = tenant ?? (await createBackupsStore({ db, reads: db }).firstTenant());
  if (tenantId === null) throw new CollectorError("admin-refused", "there is no tenant yet: start the collector once");
  const columns = { recipients: JSON.stringify(recipients), updated_at: toInstant(clock.now()), updated_by: operator };
  await db.transaction().execute(async (trx) => {
    const before = await readRecipients(trx);
    await writeSettings(trx, columns);
    await audit(trx, {
      actor: { type: "system", id: "operator", name: operator, tenantId, address: "" }, action: "backup.configure",
      target: { type: "backup_settings", id: SETTINGS_ID }, before: { recipients: before }, after: { recipients },
    });
  });
}
