import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import { selectIn } from "../db/select-in.ts";
import { type Candidate, joinDevices } from "../identity/join-devices.ts";
import { macKind } from "../identity/macs.ts";
import type { Merges } from "../identity/merges.ts";
import type { DeviceDraft } from "./devices-draft.ts";
import type { WorkingSet } from "./working-set.ts";

type Trx = Transaction<Schema>;

const NOBODY: ReadonlyMap<string, string> = new Map();

/**
 * Joins the devices of a batch that show a key which another device of the site has. A key that more than one other device
 * has says nothing: it is everybody's.
 * @param set As it was saved, its site held.
 * @returns Who is whose now: the id of each device that is gone → the device that has it in it.
 */
export async function joinSeen(trx: Trx, merges: Merges, set: WorkingSet): Promise<ReadonlyMap<string, string>> {
  const created = [...set.devices.values()].filter(({ isNew, fields }) => isNew && fields.mac !== "");
  if (created.length === 0 && set.keys.length === 0) return NOBODY;
  const { siteId, tenantId } = set.site;
  const candidates = [...await byKeys(trx, set), ...await byOwnMac(trx, set), ...await byAddress(trx, siteId, created)];
  if (candidates.length === 0) return NOBODY;
  return joinDevices(trx, merges, { tenantId, by: "ingest", candidates });
}

/** More devices than this that show one key for the first time, all at once, are no machine of many interfaces. */
const MOST_AT_ONCE = 4;

/** Keys that are new on a device, each with the one device that had it before, or else with the first of those that show it now. */
async function byKeys(trx: Trx, set: WorkingSet): Promise<readonly Candidate[]> {
  const keys = [...new Set(set.keys.map(({ key }) => key))];
  const rows = await selectIn(keys, (list) => trx.selectFrom("device_keys").select(["device_id", "key"])
    .where("site_id", "=", set.site.siteId).where("key", "in", list).execute());
  const shown = byKey(set.keys);
  const holders = byKey(rows);
  return keys.flatMap((key) => {
    const fresh = shown.get(key) ?? [];
    const isFresh = new Set(fresh.map(({ device_id: id }) => id));
    const before = [...new Set((holders.get(key) ?? []).map(({ device_id: id }) => id))].filter((id) => !isFresh.has(id));
    const otherId = before[0] ?? fresh[0]?.device_id;
    if (otherId === undefined || before.length > 1 || fresh.length > MOST_AT_ONCE) return [];
    return fresh.filter(({ device_id: id }) => id !== otherId)
      .map(({ device_id: deviceId, source }) => ({ deviceId, otherId, reason: { key, source } }));
  });
}

function byKey<T extends { readonly key: string }>(rows: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const own = found.get(row.key);
    if (own) own.push(row);
    else found.set(row.key, [row]);
  }
  return found;
}

/** A MAC that one device told of itself, by its DHCP client identifier, and another one has: told first or seen first. */
async function byOwnMac(trx: Trx, set: WorkingSet): Promise<readonly Candidate[]> {
  const { siteId } = set.site;
  const told = set.keys.filter(({ key }) => key.startsWith("mac "));
  const owners = new Map((await selectIn(told.map(({ key }) => key.slice(4)), (list) => trx.selectFrom("interfaces")
    .select(["device_id", "mac"])
    .where("site_id", "=", siteId).where("mac", "in", list).execute())).map(({ device_id, mac }) => [`mac ${mac}`, device_id]));
  const seenFirst = told.flatMap(({ device_id: deviceId, key, source }) => {
    const otherId = owners.get(key);
    return otherId === undefined || otherId === deviceId ? [] : [{ deviceId, otherId, reason: { key, source } }];
  });
  const own = [...set.devices.values()].filter(({ isNew, fields }) => isNew && fields.mac !== "" && macKind(fields.mac) === "own");
  const ids = new Map(own.map(({ id, fields }) => [`mac ${fields.mac}`, id]));
  const tellers = await selectIn([...ids.keys()], (list) => trx.selectFrom("device_keys").select(["device_id", "key", "source"])
    .where("site_id", "=", siteId).where("key", "in", list).execute());
  const toldFirst = tellers.flatMap(({ device_id: otherId, key, source }) => {
    const deviceId = ids.get(key);
    return deviceId === undefined || deviceId === otherId ? [] : [{ deviceId, otherId, reason: { key, source } }];
  });
  return [...seenFirst, ...toldFirst];
}

/** Devices that were known by their address alone, which is theirs still: now their MAC is known too. */
async function byAddress(trx: Trx, siteId: string, created: readonly DeviceDraft[]): Promise<readonly Candidate[]> {
  const ids = new Map(created.map(({ id, fields }) => [fields.ip, id]));
  const rows = await selectIn([...ids.keys()], (list) => trx.selectFrom("addresses")
    .innerJoin("devices", "devices.id", "addresses.device_id")
    .select(["addresses.device_id", "addresses.ip"]).where("addresses.site_id", "=", siteId).where("addresses.ip", "in", list)
    .where("addresses.current", "=", 1).where("addresses.mac", "=", "").where("devices.mac", "=", "").execute());
  return rows.flatMap(({ device_id: otherId, ip }) => {
    const deviceId = ids.get(ip);
    return deviceId === undefined || deviceId === otherId ? [] : [{ deviceId, otherId, reason: { key: `ip ${ip}`, source: "arp" } }];
  });
}
