import type { Transaction } from "kysely";
import { hostnameKey } from "../db/keys/hostname-key.ts";
import { insertMany } from "../db/query/write-many.ts";
import type { Schema } from "../db/schema.ts";
import { noteSoftwareChanges } from "../software/changes-store.ts";
import { partsOf } from "./merging/merge-records.ts";
import { type DeviceRecord, PART_TABLES, type PartRow, type PartTable } from "./record.ts";

type Trx = Transaction<Schema>;

/** Everything of a device, or null where there is none. */
export async function loadRecord(trx: Trx, deviceId: string): Promise<DeviceRecord | null> {
  const row = await trx.selectFrom("devices").selectAll().where("id", "=", deviceId).executeTakeFirst();
  if (!row) return null;
  const { hostname_key: _, ...device } = row;
  const rows = new Map<PartTable, readonly object[]>();
  for (const table of PART_TABLES) rows.set(table, await readPart(trx, table, deviceId));
  return { device, ...partsOf((table) => (rows.get(table) ?? []) as never) };
}

async function readPart(trx: Trx, table: PartTable, deviceId: string): Promise<readonly object[]> {
  const rows = await (trx as unknown as Transaction<Record<PartTable, { device_id: string }>>).selectFrom(table).selectAll()
    .where("device_id", "=", deviceId).execute();
  return rows.map(({ device_id: _device, ...row }) => row);
}

/** Writes a device anew, its row and all its parts, whatever of it was there. */
export async function writeRecord(trx: Trx, record: DeviceRecord, options: { readonly isNew: boolean }): Promise<void> {
  const device = { ...record.device, hostname_key: hostnameKey(record.device.hostname) };
  if (options.isNew) await trx.insertInto("devices").values(device).execute();
  else await trx.updateTable("devices").set(device).where("id", "=", device.id).execute();
  for (const table of PART_TABLES) {
    const rows = (record[table] as readonly PartRow<PartTable>[]).map((row) => ({ device_id: device.id, ...row }));
    await insertMany(trx, table, rows as never);
  }
  const software = [...record.ports.filter(({ product }) => product !== ""), ...record.device_software];
  if (software.length > 0) await noteSoftwareChanges(trx, [{ device_id: device.id, tenant_id: device.tenant_id, since: device.last_seen }]);
}

/** So that rows can come to another device without two having them at once. */
export async function deleteParts(trx: Trx, deviceIds: readonly string[]): Promise<void> {
  for (const table of PART_TABLES) {
    await (trx as unknown as Transaction<Record<PartTable, { device_id: string }>>).deleteFrom(table).where("device_id", "in", deviceIds)
      .execute();
  }
}
