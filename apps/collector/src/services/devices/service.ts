import type { Device, DeviceProfile, DevicesQuery, List } from "@lanthorn/contract";
import { notFound } from "../../gateway/errors.ts";
import { formatCursor, parseCursor } from "./cursor.ts";
import { toDevice, toProfile } from "./records.ts";
import { type DevicesStore, SORT_COLUMNS, type DeviceSortField } from "./store.ts";

export interface DevicesService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: DevicesQuery): Promise<List<Device>>;
  /** @throws ApiError NOT_FOUND. */
  profile(tenantId: string, deviceId: string): Promise<DeviceProfile>;
}

const NEWEST_CHANGES = 100;

export function createDevicesService({ store }: { readonly store: DevicesStore }): DevicesService {
  return {
    async list(tenantId, query) {
      const { page, per_page: perPage, sort, cursor } = query;
      // An empty list would hide a mistyped id.
      if (query.site_id !== undefined && !(await store.siteExists(tenantId, query.site_id))) throw notFound("site");
      const descending = sort.startsWith("-");
      const field = (descending ? sort.slice(1) : sort) as DeviceSortField;
      const filter = { siteId: query.site_id, isOnline: query.is_online, vendor: query.vendor, os: query.os, search: query.search };
      const from = cursor === undefined ? (page - 1) * perPage : parseCursor(sort, cursor);
      // One more than asked for tells whether there is a next page.
      const rows = await store.list(tenantId, filter, { field, descending, limit: perPage + 1, from });
      const shown = rows.slice(0, perPage);
      const last = rows.length > perPage ? shown.at(-1) : undefined;
      return {
        data: shown.map(toDevice),
        meta: {
          page, per_page: perPage, total: await store.count(tenantId, filter),
          next_cursor: last ? formatCursor(sort, { value: last[SORT_COLUMNS[field]], id: last.id }) : null,
        },
      };
    },

    async profile(tenantId, deviceId) {
      const row = await store.byId(tenantId, deviceId);
      if (!row) throw notFound("device");
      return toProfile(row, await store.parts(tenantId, deviceId, NEWEST_CHANGES));
    },
  };
}
