import { createId } from "@lanthorn/runtime";
import type { Insertable, Selectable, Transaction, Updateable } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { DeviceRow } from "./pages.ts";

type Trx = Transaction<Schema>;

/** What a device is known by. */
export interface Identifiers {
  readonly ip: string;
  /** Empty when unknown. */
  readonly mac: string;
}

/** @param device.at Now. @param device.vendor Who made its interface. */
export type Identified = Pick<DeviceRow, "id" | "tenant_id" | "site_id" | "mac" | "ip" | "ip_key" | "vendor"> & { readonly at: string };

/** Adds a device, without its identifiers. */
export async function addDevice(trx: Trx, row: Insertable<Schema["devices"]>): Promise<void> {
  await trx.insertInto("devices").values(row).execute();
}

/** Sets columns of a device. */
export async function setDevice(trx: Trx, deviceId: string, columns: Updateable<Schema["devices"]>): Promise<void> {
  await trx.updateTable("devices").set(columns).where("id", "=", deviceId).execute();
}

/** Notes that a person has changed a field. */
export async function addChange(
  trx: Trx, change: Pick<Insertable<Schema["device_changes"]>, "device_id" | "tenant_id" | "at" | "field" | "before" | "after">,
): Promise<void> {
  await trx.insertInto("device_changes").values({ id: createId(), ...change, source: "person" }).execute();
}

/** A merge that is not undone; null for none. */
export async function findMerge(trx: Trx, tenantId: string, mergeId: string): Promise<Selectable<Schema["device_merges"]> | null> {
  return (await trx.selectFrom("device_merges").selectAll().where("tenant_id", "=", tenantId).where("id", "=", mergeId)
    .where("undone_at", "is", null).executeTakeFirst()) ?? null;
}

/** The device that has the MAC, or now has the address where no MAC is known; null for none but `except`. */
export async function findHolder(trx: Trx, siteId: string, { ip, mac }: Identifiers, except: string): Promise<string | null> {
  const holder = mac === ""
    ? await trx.selectFrom("addresses").select("device_id")
      .where("site_id", "=", siteId).where("ip", "=", ip).where("current", "=", 1).where("device_id", "<>", except).executeTakeFirst()
    : await trx.selectFrom("interfaces").select("device_id")
      .where("site_id", "=", siteId).where("mac", "=", mac).where("device_id", "<>", except).executeTakeFirst();
  return holder?.device_id ?? null;
}

/** Gives a device its MAC and address. An address that a person says is one that nobody has seen, until somebody does. */
export async function keepIdentifiers(trx: Trx, { id, tenant_id, site_id, mac, ip, ip_key, vendor, at }: Identified): Promise<void> {
  const own = { device_id: id, tenant_id, site_id, mac };
  if (mac !== "") await trx.insertInto("interfaces").values({ ...own, vendor, first_seen: at })
    .onConflict((c) => c.columns(["site_id", "mac"]).doNothing()).execute();
  if (ip === "") return;
  await trx.insertInto("addresses").values({ ...own, ip, ip_key, first_seen: "", last_seen: "", current: 1 })
    .onConflict((c) => c.columns(["device_id", "mac", "ip"]).doUpdateSet({ current: 1 })).execute();
}

/** The new MAC or address becomes one of the device's. Of a device that nothing has been heard of it takes the place of the old one. */
export async function moveIdentifiers(trx: Trx, before: DeviceRow, after: DeviceRow & Identified): Promise<void> {
  const heard = await trx.selectFrom("evidence").select("field").where("device_id", "=", before.id).limit(1).executeTakeFirst();
  if (!heard && before.presence_state === "unknown") {
    await trx.deleteFrom("interfaces").where("device_id", "=", before.id).where("mac", "=", before.mac).execute();
    await trx.deleteFrom("addresses").where("device_id", "=", before.id).where("mac", "=", before.mac).where("ip", "=", before.ip)
      .execute();
  }
  await keepIdentifiers(trx, after);
  const macs = await trx.selectFrom("interfaces").select("mac").where("device_id", "=", before.id).execute();
  // From now on each interface keeps how it is; the one that there was is as the device is.
  if (macs.length > 1 && before.mac_count === 1) {
    await trx.updateTable("interfaces").set({ presence_state: before.presence_state }).where("device_id", "=", before.id)
      .where("mac", "<>", after.mac).execute();
  }
  await setDevice(trx, before.id, { mac_count: Math.max(1, macs.length) });
}
