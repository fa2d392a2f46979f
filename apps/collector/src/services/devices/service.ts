import {
  type Device, type DeviceCreate, type DeviceFacets, type DeviceFacetsQuery, type DeviceMergeRequest, type DevicePorts, type DeviceProfile, type DevicesExportQuery,
  type DeviceSplitRequest,
  type DevicesQuery, type DeviceUpdate, type List, type SimilarDevice,
} from "@lanthorn/contract";
import type { Actor } from "../../gateway/environment.ts";
import { deviceNotFound } from "./locks.ts";
import { csvPages, EXPORT_ROWS } from "../../gateway/csv/csv.ts";
import type { Position } from "../../gateway/cursor.ts";
import { type IdPage, pageById, pageBySort, pageOfAll } from "../../gateway/page.ts";
import type { DeviceBulkEditor } from "./bulk-editor.ts";
import type { ReadConditions } from "./conditions.ts";
import { DEVICE_COLUMNS } from "./csv.ts";
import type { DeviceEditor } from "./editor.ts";
import type { DeviceMerger } from "./merger.ts";
import { type DeviceRow, type DeviceSortField, SORT_COLUMNS } from "./store/pages.ts";
import { toChange, toDevice, toFacets, toPort, toProfile } from "./records.ts";
import type { DevicesStore } from "./store/devices.ts";

/** Devices of a tenant as the API shows them. A device that was merged is NOT_FOUND, with the id of the device that has it now. */
export interface DevicesService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for a cursor of another list. */
  list(tenantId: string, query: DevicesQuery): Promise<List<Device>>;
  /** How often values occur in the list. @throws ApiError as `list`. */
  facets(tenantId: string, query: DeviceFacetsQuery): Promise<DeviceFacets>;
  /** Every device of the list as CSV, some hundreds at a time. @throws ApiError as `list`. */
  exportCsv(tenantId: string, query: DevicesExportQuery): Promise<AsyncGenerator<string>>;
  /** @throws ApiError NOT_FOUND. */
  profile(tenantId: string, deviceId: string): Promise<DeviceProfile>;
  /** Devices of the site that may be the same one. @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  similar(tenantId: string, deviceId: string, page: IdPage): Promise<List<SimilarDevice>>;
  /** @throws ApiError NOT_FOUND. */
  ports(tenantId: string, deviceId: string): Promise<DevicePorts>;
  /** Newest first. @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  history(tenantId: string, deviceId: string, page: IdPage): Promise<List<DeviceProfile["history"][number]>>;
  /** @throws ApiError as `DeviceEditor.create`. */
  create(actor: Actor, device: DeviceCreate): Promise<DeviceProfile>;
  /** @throws ApiError as `DeviceEditor.update`. */
  update(actor: Actor, deviceId: string, changes: DeviceUpdate): Promise<DeviceProfile>;
  /** @throws ApiError as `DeviceBulkEditor.change`. */
  readonly changeAll: DeviceBulkEditor["change"];
  /** @returns The device that is kept. @throws ApiError as `DeviceMerger.merge`. */
  merge(actor: Actor, deviceId: string, request: DeviceMergeRequest): Promise<DeviceProfile>;
  /** @returns The device that came of it. @throws ApiError as `DeviceMerger.split`. */
  split(actor: Actor, deviceId: string, request: DeviceSplitRequest): Promise<DeviceProfile>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, deviceId: string): Promise<void>;
}

/** A device's links, from its own side. */
export type NeighborsOf = (tenantId: string, device: {
  readonly id: string; readonly site_id: string;
}) => Promise<DeviceProfile["neighbors"]>;

/** What is known to be vulnerable of a device: its CVEs, and of each service, as `tcp/22`, how many count. */
export type CvesOf = (tenantId: string, deviceId: string) => Promise<{
  readonly cves: readonly DeviceProfile["cves"][number][]; readonly counted: ReadonlyMap<string, number>;
}>;

const NEWEST_CHANGES = 100;

/** @param deps.neighborsOf What a profile shows as `neighbors`; the topology service passes it. @param deps.cvesOf What it shows as `cves`. */
export function createDevicesService(deps: {
  readonly store: DevicesStore;
  readonly editor: DeviceEditor;
  readonly merger: DeviceMerger;
  readonly bulk: DeviceBulkEditor;
  readonly neighborsOf: NeighborsOf; readonly cvesOf: CvesOf;
  readonly conditions: ReadConditions;
}): DevicesService {
  const { store, editor, merger, conditions } = deps;

  /** What the list is narrowed to and in which order. */
  const read = async (tenantId: string, query: DevicesExportQuery) => {
    const filter = await conditions(tenantId, query);
    const descending = query.sort.startsWith("-");
    const field = query.sort.replace(/^-/, "") as DeviceSortField;
    const positionOf = (row: DeviceRow): Position => ({ value: row[SORT_COLUMNS[field]], id: row.id });
    return { filter, order: { field, descending }, positionOf };
  };
  const find = async (tenantId: string, deviceId: string): Promise<DeviceRow> => {
    const row = await store.byId(tenantId, deviceId);
    if (!row) throw deviceNotFound(await store.mergedInto(tenantId, deviceId));
    return row;
  };

  const service: DevicesService = {
    async list(tenantId, query) {
      const { filter, order, positionOf } = await read(tenantId, query);
      return pageBySort(query, { read: (page) => store.page(tenantId, filter, { ...order, ...page }), positionOf, show: toDevice });
    },

    facets: async (tenantId, query) => toFacets(await store.countFacets(tenantId, await conditions(tenantId, query))),

    async exportCsv(tenantId, query) {
      const { filter, order, positionOf } = await read(tenantId, query);
      return csvPages(DEVICE_COLUMNS, {
        read: async (from) => (await store.page(tenantId, filter, { ...order, limit: EXPORT_ROWS, from })).rows, positionOf, show: toDevice,
      });
    },

    async profile(tenantId, deviceId) {
      const device = await find(tenantId, deviceId);
      return toProfile(device, await store.parts(tenantId, deviceId, NEWEST_CHANGES), { neighbors: await deps.neighborsOf(tenantId, device), ...await deps.cvesOf(tenantId, deviceId) });
    },

    async similar(tenantId, deviceId, page) {
      const found = await store.similar(await find(tenantId, deviceId));
      const all = found.map(({ device, score, reasons }) => ({ device: toDevice(device), score, reasons: [...reasons] }));
      return pageOfAll(all, page, ({ device }) => device.id);
    },

    async ports(tenantId, deviceId) {
      await find(tenantId, deviceId);
      return { data: (await store.ports(tenantId, deviceId)).map(toPort) };
    },

    async history(tenantId, deviceId, page) {
      await find(tenantId, deviceId);
      return pageById(page, {
        read: (rows) => store.changes(tenantId, deviceId, rows), count: () => store.countChanges(tenantId, deviceId), show: toChange,
      });
    },

    create: async (actor, device) => service.profile(actor.tenantId, await editor.create(actor, device)),

    async update(actor, deviceId, changes) {
      await editor.update(actor, deviceId, changes);
      return service.profile(actor.tenantId, deviceId);
    },

    changeAll: deps.bulk.change,
    merge: async (actor, deviceId, request) => service.profile(actor.tenantId, await merger.merge(actor, deviceId, request)),
    split: async (actor, deviceId, request) => service.profile(actor.tenantId, await merger.split(actor, deviceId, request)),
    remove: (actor, deviceId) => editor.remove(actor, deviceId),
  };
  return service;
}
