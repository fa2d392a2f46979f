import type { Insertable, Transaction } from "kysely";
import { lockSites } from "../../../db/locks/lock-site.ts";
import { insertMany, updateMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";
import type { DeviceRow } from "./pages.ts";

type Trx = Transaction<Schema>;

/** Devices, their sites held, in the order of their ids. Those that are no more are left out. */
export async function holdDevices(trx: Trx, tenantId: string, ids: readonly string[]): Promise<readonly DeviceRow[]> {
  const find = () => trx.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "in", ids).orderBy("id").execute();
  const found = await find();
  await lockSites(trx, [...new Set(found.map(({ site_id: id }) => id))]);
  return find();
}

/** Writes some columns of devices, and the changes of their history. @param columns Only those that change: their indexes are written anew. */
export async function writeDevices(
  trx: Trx, rows: readonly DeviceRow[], columns: readonly (keyof DeviceRow)[], changes: readonly Insertable<Schema["device_changes"]>[],
): Promise<void> {
  await updateMany(trx, "devices", rows.map((row) => Object.fromEntries((["id", ...columns] as const).map((column) => [column, row[column]]))));
  await insertMany(trx, "device_changes", changes);
}

/** Removes devices and what was merged into them. */
export async function removeDevices(trx: Trx, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx.deleteFrom("devices").where("id", "in", ids).execute();
  await trx.deleteFrom("device_merges").where("tenant_id", "=", tenantId).where("kept_id", "in", ids).execute();
}
