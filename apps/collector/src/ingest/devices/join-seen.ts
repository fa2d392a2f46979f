import type { Transaction } from "kysely";
import { groupBy } from "../../db/query/group-by.ts";
import type { Schema } from "../../db/schema.ts";
import { type Candidate, joinDevices } from "../../identity/join-devices.ts";
import { macKind } from "../../identity/macs.ts";
import type { Merges } from "../../identity/merging/merges.ts";
import type { HostRef } from "./devices-draft.ts";
import { readHolders, readKnownByAddress, readOwners } from "../store/holders.ts";
import type { Site, WorkingSet } from "../working-set.ts";

type Trx = Transaction<Schema>;

const NOBODY: ReadonlyMap<string, string> = new Map();

/**
 * Joins the devices of batches that show a key which another device of their site has. A key that more than one other device
 * has says nothing: it is everybody's.
 * @param sets As they were saved, their sites held.
 * @returns Who is whose now: the id of each device that is gone → the device that has it in it.
 */
export async function joinSeen(trx: Trx, merges: Merges, sets: readonly WorkingSet[]): Promise<ReadonlyMap<string, string>> {
  const created = sets.flatMap(({ site, devices }) =>
    [...devices.values()].filter(({ isNew, fields }) => isNew && fields.mac !== "")
      .map(({ id, fields }) => ({ ...site, id, ip: fields.ip, mac: fields.mac })));
  const shown = sets.flatMap(({ keys }) => keys);
  if (created.length === 0 && shown.length === 0) return NOBODY;
  const candidates = [...await byKeys(trx, shown), ...await byOwnMac(trx, shown, created), ...await byAddress(trx, created)];
  if (candidates.length === 0) return NOBODY;
  return joinDevices(trx, merges, { by: "ingest", candidates });
}

/** A device that is new, and has an interface. */
interface Created extends Site, HostRef {
  readonly id: string;
}

type ShownKey = WorkingSet["keys"][number];

/** More devices than this that show one key for the first time, all at once, are no machine of many interfaces. */
const MAX_AT_ONCE = 4;

/** Keys that are new on a device, each with the one device that had it before, or else with the first of those that show it now. */
async function byKeys(trx: Trx, shown: readonly ShownKey[]): Promise<readonly Candidate[]> {
  const keys = groupBy(shown, atSite);
  const holders = groupBy(await readHolders(trx, [...keys.values()].map(([first]) => [first.site_id, first.key])), atSite);
  return [...keys].flatMap(([key, fresh]) => {
    const isFresh = new Set(fresh.map(({ device_id: id }) => id));
    const before = [...new Set((holders.get(key) ?? []).map(({ device_id: id }) => id))].filter((id) => !isFresh.has(id));
    const otherId = before[0] ?? fresh[0].device_id;
    if (before.length > 1 || fresh.length > MAX_AT_ONCE) return [];
    return fresh.filter(({ device_id: id }) => id !== otherId)
      .map(({ device_id: deviceId, tenant_id: tenantId, key: text, source }) =>
        ({ tenantId, deviceId, otherId, reason: { key: text, source } }));
  });
}

function atSite({ site_id: siteId, key }: { readonly site_id: string; readonly key: string }): string {
  return `${siteId} ${key}`;
}

/** A MAC that one device announced, by its DHCP client identifier, and another one has: whichever came first. */
async function byOwnMac(trx: Trx, shown: readonly ShownKey[], created: readonly Created[]): Promise<readonly Candidate[]> {
  const announced = shown.filter(({ key }) => key.startsWith("mac "));
  const owners = new Map((await readOwners(trx, announced.map(({ site_id: siteId, key }) => [siteId, key.slice(4)])))
    .map(({ device_id, site_id, mac }) => [`${site_id} mac ${mac}`, device_id]));
  const seenFirst = announced.flatMap((row) => {
    const { device_id: deviceId, tenant_id: tenantId, key, source } = row;
    const otherId = owners.get(atSite(row));
    return otherId === undefined || otherId === deviceId ? [] : [{ tenantId, deviceId, otherId, reason: { key, source } }];
  });
  const own = new Map(created.filter(({ mac }) => macKind(mac) === "own").map((one) => [`${one.siteId} mac ${one.mac}`, one]));
  const tellers = await readHolders(trx, [...own.values()].map(({ siteId, mac }) => [siteId, `mac ${mac}`]));
  const toldFirst = tellers.flatMap((row) => {
    const { device_id: otherId, key, source } = row;
    const device = own.get(atSite(row));
    return !device || device.id === otherId ? [] : [{ tenantId: device.tenantId, deviceId: device.id, otherId, reason: { key, source } }];
  });
  return [...seenFirst, ...toldFirst];
}

/** Devices that were known by their address alone, which is theirs still: now their MAC is known too. */
async function byAddress(trx: Trx, created: readonly Created[]): Promise<readonly Candidate[]> {
  const byIp = new Map(created.map((one) => [`${one.siteId} ${one.ip}`, one]));
  const rows = await readKnownByAddress(trx, [...byIp.values()].map(({ siteId, ip }) => [siteId, ip]));
  return rows.flatMap(({ device_id: otherId, site_id: siteId, ip }) => {
    const device = byIp.get(`${siteId} ${ip}`);
    return !device || device.id === otherId
      ? []
      : [{ tenantId: device.tenantId, deviceId: device.id, otherId, reason: { key: `ip ${ip}`, source: "arp" } }];
  });
}
