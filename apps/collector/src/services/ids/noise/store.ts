import { idsCategoryKey, type IdsSuppression } from "@lanthorn/contract";
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";

/** A suppression as stored. */
export type SuppressionRow = Selectable<Schema["ids_suppressions"]>;
/** An override as stored. */
export type OverrideRow = Selectable<Schema["ids_overrides"]>;
type Trx = Transaction<Schema>;

/** What people say of alerts and rules. Suppressions that have expired at `now` are not there. */
export interface NoiseStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  deviceExists(tenantId: string, deviceId: string): Promise<boolean>;
  /** In the order in which they were made. */
  suppressions(handle: Trx | null, tenantId: string, now: string): Promise<readonly SuppressionRow[]>;
  addSuppression(trx: Trx, row: SuppressionRow): Promise<void>;
  removeSuppression(trx: Trx, id: string): Promise<void>;
  countHit(trx: Trx, id: string, hits: number, at: string): Promise<void>;
  /** Forgets a tenant's suppressions that have expired. */
  forgetExpired(trx: Trx, tenantId: string, now: string): Promise<void>;
  overrides(handle: Trx | null, tenantId: string): Promise<readonly OverrideRow[]>;
  addOverride(trx: Trx, row: OverrideRow): Promise<void>;
  removeOverride(trx: Trx, id: string): Promise<void>;
}

/** Over the collector's database. */
export function createNoiseStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): NoiseStore {
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    deviceExists: async (tenantId, deviceId) =>
      (await reads.selectFrom("devices").select("id").where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst()) !== undefined,
    suppressions: (handle, tenantId, now) => (handle ?? reads).selectFrom("ids_suppressions").selectAll().where("tenant_id", "=", tenantId)
      .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id").execute(),
    async addSuppression(trx, row) {
      await trx.insertInto("ids_suppressions").values(row).execute();
    },
    async removeSuppression(trx, id) {
      await trx.deleteFrom("ids_suppressions").where("id", "=", id).execute();
    },
    async countHit(trx, id, hits, at) {
      await trx.updateTable("ids_suppressions").set((eb) => ({ hits: eb("hits", "+", hits), last_hit_at: at })).where("id", "=", id).execute();
    },
    async forgetExpired(trx, tenantId, now) {
      await trx.deleteFrom("ids_suppressions").where("tenant_id", "=", tenantId).where("expires_at", "<=", now).execute();
    },
    overrides: (handle, tenantId) => (handle ?? reads).selectFrom("ids_overrides").selectAll().where("tenant_id", "=", tenantId).orderBy("id").execute(),
    async addOverride(trx, row) {
      await trx.insertInto("ids_overrides").values(row).execute();
    },
    async removeOverride(trx, id) {
      await trx.deleteFrom("ids_overrides").where("id", "=", id).execute();
    },
  };
}

/** As probes and the collector compare it. Those of other sites are left out. @param devices Addresses of devices that suppressions name. */
export function toCompared(rows: readonly SuppressionRow[], siteId: string | null, devices: DeviceAddresses): readonly IdsSuppression[] {
  return rows.filter((row) => row.site_id === null || row.site_id === siteId).map((row) => ({
    id: row.id, signature_id: row.signature_id, generator_id: row.generator_id, category: row.category === null ? null : idsCategoryKey(row.category), source: row.source,
    destination: row.destination, network: row.network, device: row.device_id === null ? null : (devices.get(row.device_id) ?? { ips: [], macs: [] }), expires_at: row.expires_at,
  }));
}

/** Addresses of devices by their ids. */
export type DeviceAddresses = ReadonlyMap<string, { readonly ips: string[]; readonly macs: string[] }>;

/** A suppression takes so many addresses of its device, as probes do. */
const MAX_ADDRESSES = 64;

/** The addresses that the devices of suppressions have now, sorted. */
export async function readDeviceAddresses(handle: Kysely<Schema>, rows: readonly SuppressionRow[]): Promise<DeviceAddresses> {
  const ids = [...new Set(rows.flatMap(({ device_id: id }) => id ?? []))];
  const found = new Map<string, { readonly ips: string[]; readonly macs: string[] }>();
  for (const id of ids) {
    const ips = await handle.selectFrom("addresses").select("ip").distinct().where("device_id", "=", id).where("current", "=", 1).orderBy("ip").limit(MAX_ADDRESSES).execute();
    const macs = await handle.selectFrom("interfaces").select("mac").where("device_id", "=", id).where(sql.ref("mac"), "!=", "").orderBy("mac").limit(MAX_ADDRESSES).execute();
    found.set(id, { ips: ips.map(({ ip }) => ip), macs: macs.map(({ mac }) => mac) });
  }
  return found;
}
