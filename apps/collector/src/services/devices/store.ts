import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createReadPage, type DeviceRow, type ReadPage } from "./pages.ts";

/** Everything that is kept of one device beside its row. */
export interface DeviceParts {
  readonly interfaces: readonly Selectable<Schema["interfaces"]>[];
  readonly addresses: readonly Selectable<Schema["addresses"]>[];
  readonly ports: readonly Selectable<Schema["ports"]>[];
  readonly changes: readonly Selectable<Schema["device_changes"]>[];
  readonly evidence: readonly Selectable<Schema["evidence"]>[];
}

export interface DevicesStore {
  readonly page: ReadPage;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  byId(tenantId: string, deviceId: string): Promise<DeviceRow | null>;
  /** By number. */
  ports(tenantId: string, deviceId: string): Promise<readonly Selectable<Schema["ports"]>[]>;
  /** Newest first. @param options.from Rows to skip, or the id of the last row that was shown. */
  changes(
    tenantId: string, deviceId: string, options: { readonly from: number | string; readonly limit: number },
  ): Promise<readonly Selectable<Schema["device_changes"]>[]>;
  countChanges(tenantId: string, deviceId: string): Promise<number>;
  /** @param newestChanges How many changes, newest first. */
  parts(tenantId: string, deviceId: string, newestChanges: number): Promise<DeviceParts>;
}

export function createDevicesStore({ reads }: { readonly reads: Kysely<Schema> }): DevicesStore {
  const own = (tenantId: string, deviceId: string) => reads.selectFrom("device_changes").where("tenant_id", "=", tenantId).where("device_id", "=", deviceId);
  const store: DevicesStore = {
    page: createReadPage(reads),

    async siteExists(tenantId, siteId) {
      return (await reads.selectFrom("sites").select("id").where("tenant_id", "=", tenantId).where("id", "=", siteId).executeTakeFirst()) !== undefined;
    },

    async byId(tenantId, deviceId) {
      return (await reads.selectFrom("devices").selectAll().where("tenant_id", "=", tenantId).where("id", "=", deviceId).executeTakeFirst()) ?? null;
    },

    ports: (tenantId, deviceId) => reads.selectFrom("ports").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
      .orderBy("port").orderBy("protocol").execute(),

    changes(tenantId, deviceId, { from, limit }) {
      const query = own(tenantId, deviceId).selectAll().orderBy("id", "desc").limit(limit);
      return (typeof from === "number" ? query.offset(from) : query.where("id", "<", from)).execute();
    },

    async countChanges(tenantId, deviceId) {
      return (await own(tenantId, deviceId).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
    },

    async parts(tenantId, deviceId, newestChanges) {
      return {
        interfaces: await reads.selectFrom("interfaces").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId).orderBy("mac").execute(),
        addresses: await reads.selectFrom("addresses").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId).orderBy("ip_key").execute(),
        ports: await store.ports(tenantId, deviceId),
        changes: await store.changes(tenantId, deviceId, { from: 0, limit: newestChanges }),
        evidence: await reads.selectFrom("evidence").selectAll().where("tenant_id", "=", tenantId).where("device_id", "=", deviceId)
          .orderBy("field").orderBy("seen_at", "desc").execute(),
      };
    },
  };
  return store;
}
