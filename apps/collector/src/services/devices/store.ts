import type { DEVICE_SORT_FIELDS } from "@lanthorn/contract";
import { type Kysely, type Selectable, sql } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Position } from "../../gateway/cursor.ts";
import { type DeviceFilter, isCounted, isSelective, matching } from "./filters.ts";

export type DeviceRow = Selectable<Schema["devices"]>;
export type DeviceSortField = (typeof DEVICE_SORT_FIELDS)[number];

interface DevicePage {
  readonly field: DeviceSortField;
  readonly descending: boolean;
  readonly limit: number;
  /** Rows to skip, or the row after which to go on. */
  readonly from: number | Position;
}

/** Everything that is kept of one device beside its row. */
export interface DeviceParts {
  readonly interfaces: readonly Selectable<Schema["interfaces"]>[];
  readonly addresses: readonly Selectable<Schema["addresses"]>[];
  readonly ports: readonly Selectable<Schema["ports"]>[];
  readonly changes: readonly Selectable<Schema["device_changes"]>[];
  readonly evidence: readonly Selectable<Schema["evidence"]>[];
}

export interface DevicesStore {
  list(tenantId: string, filter: DeviceFilter, page: DevicePage): Promise<readonly DeviceRow[]>;
  count(tenantId: string, filter: DeviceFilter): Promise<number>;
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

/** The column that a list is sorted by; each has an index that begins with the tenant and ends with the id. */
export const SORT_COLUMNS = { ip: "ip_key", hostname: "hostname", last_seen: "last_seen", vendor: "vendor" } as const satisfies Record<DeviceSortField, keyof DeviceRow>;

export function createDevicesStore({ reads }: { readonly reads: Kysely<Schema> }): DevicesStore {
  const own = (tenantId: string, deviceId: string) => reads.selectFrom("device_changes").where("tenant_id", "=", tenantId).where("device_id", "=", deviceId);
  const store: DevicesStore = {
    async list(tenantId, filter, { field, descending, limit, from }) {
      const column = SORT_COLUMNS[field];
      const direction = descending ? "desc" : "asc";
      // Where few may match, the index that holds all filters is read and its finds are sorted; walking the devices in
      // their order instead reads every row then. An expression in the order keeps the planner from the walk.
      const sorted = isSelective(filter) ? sql<string>`${sql.ref(column)} || ''` : column;
      let ids = reads.selectFrom("devices").select("id")
        .where((eb) => matching(eb, tenantId, filter)).orderBy(sorted, direction).orderBy("id", direction).limit(limit);
      if (typeof from === "number") ids = ids.offset(from);
      else ids = ids.where((eb) => eb(eb.refTuple(column, "id"), descending ? "<" : ">", eb.tuple(from.value, from.id)));
      // Rows are read only for the ids of the page, so that skipping to a late page walks the index alone.
      return reads.selectFrom("devices").selectAll().where("id", "in", ids).orderBy(column, direction).orderBy("id", direction).execute();
    },

    async count(tenantId, filter) {
      if (isCounted(filter)) {
        let counts = reads.selectFrom("device_counts").select((eb) => eb.fn.sum<number | null>("devices").as("total")).where("tenant_id", "=", tenantId);
        if (filter.siteId !== undefined) counts = counts.where("site_id", "=", filter.siteId);
        if (filter.isOnline !== undefined) counts = counts.where("is_online", "=", filter.isOnline ? 1 : 0);
        return (await counts.executeTakeFirstOrThrow()).total ?? 0;
      }
      const row = await reads.selectFrom("devices").select((eb) => eb.fn.countAll<number>().as("total"))
        .where((eb) => matching(eb, tenantId, filter)).executeTakeFirstOrThrow();
      return row.total;
    },

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
