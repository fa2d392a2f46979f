import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../db/schema.ts";

const COLUMNS = ["id", "mac", "hostname", "device_type", "open_ports", "mac_count", "first_seen", "last_seen"] as const;

/** Of a device, what says how much would be lost with it. */
export type DeviceWorth = Pick<Selectable<Schema["devices"]>, (typeof COLUMNS)[number]>;

/** The sites that have more than `keepDevices` devices, with how many. */
export async function crowdedSites(
  reads: Kysely<Schema>, keepDevices: number,
): Promise<readonly { readonly siteId: string; readonly devices: number }[]> {
  const rows = await reads.selectFrom("device_counts").select((eb) => ["site_id", eb.fn.sum<number>("devices").as("devices")])
    .groupBy("site_id").having((eb) => eb.fn.sum("devices"), ">", keepDevices).execute();
  return rows.map(({ site_id: siteId, devices }) => ({ siteId, devices }));
}

/**
 * Devices of a site that may go, those not seen for longest first: none that people have worked on or added by hand.
 * @param after The last row of the page before.
 */
export function removableDevices(
  reads: Kysely<Schema>, siteId: string, { after, limit }: { readonly after: Pick<DeviceWorth, "last_seen" | "id">; readonly limit: number },
): Promise<readonly DeviceWorth[]> {
  const { last_seen: lastSeen, id } = after;
  return reads.selectFrom("devices").select(COLUMNS).where("site_id", "=", siteId)
    // One that a person added and nobody has seen yet has no first sighting.
    .where("locked_fields", "=", "[]").where("tags", "=", "[]").where("first_seen", "<>", "")
    .where((eb) => eb.or([eb("last_seen", ">", lastSeen), eb.and([eb("last_seen", "=", lastSeen), eb("id", ">", id)])]))
    .orderBy("last_seen").orderBy("id").limit(limit).execute();
}

/** Removes devices with their merges; one that people have worked on meanwhile stays. @returns How many went. */
export async function removeDevices(db: Kysely<Schema>, ids: readonly string[]): Promise<number> {
  await db.deleteFrom("device_merges").where("kept_id", "in", ids).execute();
  const { numDeletedRows } = await db.deleteFrom("devices").where("id", "in", ids).where("locked_fields", "=", "[]")
    .where("tags", "=", "[]").executeTakeFirst();
  return Number(numDeletedRows);
}
