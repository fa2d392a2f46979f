import type { Kysely } from "kysely";
import { hostnameKey } from "../../../db/keys/hostname-key.ts";
import type { Schema } from "../../../db/schema.ts";
import { similarity, type Similarity, type Traits } from "../../../identity/similarity.ts";
import type { DeviceRow } from "./pages.ts";

/** Devices of the same site that may be the same one, the likeliest first. */
export type FindSimilar = (device: DeviceRow) => Promise<readonly (Similarity & { readonly device: DeviceRow })[]>;

/** Of each thing in common: a name that fifty devices have says nothing of any of them. */
const MAX_OF_EACH = 50;

/** Compares a device with those that share its hostname, a current address or a key: at most 50 by each, so at most 150. */
export function createFindSimilar(reads: Kysely<Schema>): FindSimilar {
  const traitsOf = async (devices: readonly DeviceRow[]): Promise<ReadonlyMap<string, Traits>> => {
    const ids = devices.map(({ id }) => id);
    const addresses = await reads.selectFrom("addresses").select(["device_id", "ip", "mac"]).where("device_id", "in", ids)
      .where("current", "=", 1).execute();
    const interfaces = await reads.selectFrom("interfaces").select(["device_id", "mac"]).where("device_id", "in", ids).execute();
    const keys = await reads.selectFrom("device_keys").select(["device_id", "key"]).where("device_id", "in", ids).execute();
    const own = <T extends { readonly device_id: string }>(rows: readonly T[], id: string) => rows.filter((row) => row.device_id === id);
    return new Map(devices.map(({ id, hostname, vendor }) => [id, {
      hostname, vendor, ips: own(addresses, id).map(({ ip }) => ip), macs: own(interfaces, id).map(({ mac }) => mac),
      keys: own(keys, id).map(({ key }) => key),
    }]));
  };

  const candidates = async (device: DeviceRow, { ips, keys }: Traits): Promise<readonly DeviceRow[]> => {
    const ids = new Set<string>();
    const add = (rows: readonly { readonly id: string }[]) => rows.forEach(({ id }) => ids.add(id));
    if (device.hostname !== "") {
      add(await reads.selectFrom("devices").select("id").where("tenant_id", "=", device.tenant_id)
        .where("hostname_key", "=", hostnameKey(device.hostname)).where("hostname", "=", device.hostname)
        .where("site_id", "=", device.site_id).limit(MAX_OF_EACH).execute());
    }
    if (ips.length > 0) {
      add(await reads.selectFrom("addresses").select("device_id as id").where("site_id", "=", device.site_id)
        .where("ip", "in", ips.slice(0, MAX_OF_EACH))
        .where("current", "=", 1).limit(MAX_OF_EACH).execute());
    }
    if (keys.length > 0) {
      add(await reads.selectFrom("device_keys").select("device_id as id").where("site_id", "=", device.site_id)
        .where("key", "in", keys.slice(0, MAX_OF_EACH))
        .limit(MAX_OF_EACH).execute());
    }
    ids.delete(device.id);
    if (ids.size === 0) return [];
    return reads.selectFrom("devices").selectAll().where("tenant_id", "=", device.tenant_id).where("id", "in", [...ids]).execute();
  };

  return async (device) => {
    const mine = (await traitsOf([device])).get(device.id) as Traits;
    const others = await candidates(device, mine);
    if (others.length === 0) return [];
    const traits = await traitsOf(others);
    return others.map((other) => ({ device: other, ...similarity(mine, traits.get(other.id) as Traits) }))
      .filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score || (a.device.id < b.device.id ? -1 : 1));
  };
}
