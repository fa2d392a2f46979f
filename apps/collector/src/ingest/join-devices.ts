import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { Actor } from "../gateway/environment.ts";
import { decideJoin, forgetOldMacs, type Reason } from "../identity/join.ts";
import { macKind } from "../identity/macs.ts";
import type { Merges } from "../identity/merges.ts";
import { loadRecord } from "../identity/record-store.ts";
import type { DeviceDraft } from "./devices-draft.ts";
import type { WorkingSet } from "./working-set.ts";
import { selectIn } from "./write-rows.ts";

type Trx = Transaction<Schema>;

/** Two devices that something says are one. */
interface Candidate {
  readonly deviceId: string;
  readonly otherId: string;
  readonly reason: Reason;
}

/**
 * Joins the devices of a batch that show a key which another device of the site has. A key that more than one other device
 * has says nothing: it is everybody's. What people have taken apart stays so.
 * @param set As it was saved, its site held.
 * @returns Who is whose now: the id of each device that is gone → the device that has it in it.
 */
export async function joinDevices(trx: Trx, merges: Merges, set: WorkingSet): Promise<ReadonlyMap<string, string>> {
  const joined = new Map<string, string>();
  const created = [...set.devices.values()].filter(({ isNew, fields }) => isNew && fields.mac !== "");
  if (created.length === 0 && set.keys.length === 0) return joined;
  const { siteId, tenantId } = set.site;
  const candidates = [...await byKeys(trx, set), ...await byOwnMac(trx, set), ...await byAddress(trx, siteId, created)];
  if (candidates.length === 0) return joined;
  const now = (id: string): string => {
    const next = joined.get(id);
    return next === undefined ? id : now(next);
  };
  const by: Actor = { type: "system", id: "ingest", name: "ingest", tenantId, address: "" };
  for (const { deviceId, otherId, reason } of candidates) {
    const [one, two] = [now(deviceId), now(otherId)];
    if (one === two || await areApart(trx, tenantId, [one, two])) continue;
    const [a, b] = [await loadRecord(trx, one), await loadRecord(trx, two)];
    if (!a || !b) continue;
    const decision = decideJoin(forgetOldMacs(a), forgetOldMacs(b));
    if (!decision.join) continue;
    await merges.merge(trx, decision, { by, reasons: [reason] });
    joined.set(decision.merged.device.id, decision.kept.device.id);
  }
  return new Map([...joined.keys()].map((id) => [id, now(id)]));
}

/** Keys that are new on a device, each with the one other device that has it. */
async function byKeys(trx: Trx, set: WorkingSet): Promise<readonly Candidate[]> {
  const keys = [...new Set(set.keys.map(({ key }) => key))];
  const rows = await selectIn(keys, (list) => trx.selectFrom("device_keys").select(["device_id", "key"])
    .where("site_id", "=", set.site.siteId).where("key", "in", list).execute());
  const holders = new Map<string, Set<string>>();
  for (const { device_id, key } of rows) holders.set(key, (holders.get(key) ?? new Set()).add(device_id));
  return set.keys.flatMap(({ device_id: deviceId, key, source }) => {
    const [otherId, ...more] = [...(holders.get(key) ?? [])].filter((id) => id !== deviceId);
    return otherId === undefined || more.length > 0 ? [] : [{ deviceId, otherId, reason: { key, source } }];
  });
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

async function areApart(trx: Trx, tenantId: string, pair: readonly string[]): Promise<boolean> {
  const row = await trx.selectFrom("device_merges").select("id").where("tenant_id", "=", tenantId)
    .where("kept_id", "in", pair).where("merged_id", "in", pair).where("undone_at", "is not", null).limit(1).executeTakeFirst();
  return row !== undefined;
}
