import type { Insertable, Kysely, Transaction, Updateable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { among, selectIn } from "../../db/query/select-in.ts";

type Trx = Transaction<Schema>;

/** In one statement; far below SQLite's limit of parameters. */
const MAX_IDS = 500;

/** Notes a merge, or that two devices are apart. */
export async function addMerge(trx: Trx, merge: Insertable<Schema["device_merges"]>): Promise<void> {
  await trx.insertInto("device_merges").values(merge).execute();
}

/** Sets columns of a merge. */
export async function setMerge(trx: Trx, mergeId: string, columns: Updateable<Schema["device_merges"]>): Promise<void> {
  await trx.updateTable("device_merges").set(columns).where("id", "=", mergeId).execute();
}

/** Whether a person has taken these two apart. */
export async function areApart(trx: Trx, tenantId: string, pair: readonly string[]): Promise<boolean> {
  const row = await trx.selectFrom("device_merges").select("id").where("tenant_id", "=", tenantId)
    .where("kept_id", "in", pair).where("merged_id", "in", pair).where("undone_at", "is not", null).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Gives a device's history to another one, and removes the device. @returns The ids of the history. */
export async function takeHistory(trx: Trx, { from, to }: { readonly from: string; readonly to: string }): Promise<readonly string[]> {
  const changes = await trx.selectFrom("device_changes").select("id").where("device_id", "=", from).execute();
  await trx.updateTable("device_changes").set({ device_id: to }).where("device_id", "=", from).execute();
  await trx.deleteFrom("devices").where("id", "=", from).execute();
  return changes.map(({ id }) => id);
}

/** Gives a part of a device's history to another one. */
export async function moveChanges(
  trx: Trx, ids: readonly string[], { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    await trx.updateTable("device_changes").set({ device_id: to }).where("device_id", "=", from)
      .where("id", "in", ids.slice(at, at + MAX_IDS)).execute();
  }
}

/** Adds a change to a device's history. */
export async function addChange(trx: Trx, change: Insertable<Schema["device_changes"]>): Promise<void> {
  await trx.insertInto("device_changes").values(change).execute();
}

/** The devices that have these interfaces. */
export function ownersOf(trx: Trx, interfaces: readonly { readonly siteId: string; readonly mac: string }[]): Promise<
  readonly { readonly device_id: string; readonly site_id: string; readonly mac: string }[]
> {
  return selectIn(interfaces, (list) => trx.selectFrom("interfaces").select(["device_id", "site_id", "mac"])
    .where(among(["site_id", "mac"], list.map(({ siteId, mac }) => [siteId, mac]))).execute());
}

/** The keys of these devices. */
export function keysOf(trx: Trx, deviceIds: readonly string[]): Promise<readonly { readonly device_id: string; readonly key: string }[]> {
  return selectIn(deviceIds, (list) => trx.selectFrom("device_keys").select(["device_id", "key"]).where("device_id", "in", list).execute());
}

/** Whether a device of the site has one of these keys. */
export async function isKeyHeld(trx: Trx, siteId: string, keys: readonly string[]): Promise<boolean> {
  const holder = await trx.selectFrom("device_keys").select("device_id").where("site_id", "=", siteId).where("key", "in", keys).limit(1)
    .executeTakeFirst();
  return holder !== undefined;
}

/** Takes keys from a device. */
export async function forgetKeys(trx: Trx, deviceId: string, keys: readonly string[]): Promise<void> {
  await trx.deleteFrom("device_keys").where("device_id", "=", deviceId).where("key", "in", keys).execute();
}

/** All sites of all tenants. */
export function allSites(reads: Kysely<Schema>): Promise<readonly { readonly id: string; readonly tenant_id: string }[]> {
  return reads.selectFrom("sites").select(["id", "tenant_id"]).execute();
}

/** Two devices of a site that may be one, and why. */
export interface MaybeOne {
  readonly deviceId: string;
  readonly otherId: string;
  readonly reason: { readonly key: string; readonly source: string };
}

/** Those that have a key which no third device has. */
export async function pairsByKey(reads: Kysely<Schema>, siteId: string): Promise<readonly MaybeOne[]> {
  const rows = await reads.selectFrom("device_keys")
    .select((eb) => ["key", eb.fn.min("device_id").as("one"), eb.fn.max("device_id").as("two"), eb.fn.min("source").as("source")])
    .where("site_id", "=", siteId).groupBy("key").having((eb) => eb.fn.countAll(), "=", 2).orderBy("key").execute();
  return rows.map(({ key, one, two, source }) => ({ deviceId: one, otherId: two, reason: { key, source } }));
}

/** Those of which one announced a MAC as its own that the other has. */
export async function pairsByOwnMac(reads: Kysely<Schema>, siteId: string): Promise<readonly MaybeOne[]> {
  const rows = await reads.selectFrom("device_keys").innerJoin("interfaces", (join) => join
    .on((eb) => eb("device_keys.key", "=", eb(eb.val("mac "), "||", eb.ref("interfaces.mac"))))
    .onRef("interfaces.site_id", "=", "device_keys.site_id"))
    .select(["device_keys.device_id", "interfaces.device_id as owner_id", "device_keys.key", "device_keys.source"])
    .where("device_keys.site_id", "=", siteId).whereRef("device_keys.device_id", "<>", "interfaces.device_id").execute();
  return rows.map(({ device_id: deviceId, owner_id: otherId, key, source }) => ({ deviceId, otherId, reason: { key, source } }));
}
