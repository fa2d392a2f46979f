import {
  Device, DeviceChange, type DeviceCreate, type DeviceMergeRequest, DevicePorts, DeviceProfile, type DeviceSplitRequest, type DeviceUpdate,
  listEnvelope,
  SimilarDevice,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const path = (id: string, rest = "") => `/api/v1/devices/${encodeURIComponent(id)}${rest}`;

/** Devices: the inventory. */
export const deviceCalls = ({ call, text }: Transport) => ({
  listDevices: (query?: Query) => call("GET", "/api/v1/devices", listEnvelope(Device), { query }),
  /** The whole list as CSV, with the list's filters. */
  exportDevices: (query?: Query) => text("/api/v1/devices/export", query),
  createDevice: (device: DeviceCreate) => call("POST", "/api/v1/devices", DeviceProfile, { body: device }),
  readDevice: (id: string) => call("GET", path(id), DeviceProfile),
  updateDevice: (id: string, changes: DeviceUpdate) => call("PUT", path(id), DeviceProfile, { body: changes }),
  deleteDevice: async (id: string): Promise<void> => void (await call("DELETE", path(id), z.unknown())),
  listDevicePorts: (id: string) => call("GET", path(id, "/ports"), DevicePorts),
  listDeviceHistory: (id: string, query?: Query) => call("GET", path(id, "/history"), listEnvelope(DeviceChange), { query }),
  /** Devices that may be the same one, the likeliest first. */
  listSimilarDevices: (id: string, query?: Query) => call("GET", path(id, "/similar"), listEnvelope(SimilarDevice), { query }),
  /** Two that are one. @returns The one that is kept. */
  mergeDevice: (id: string, request: DeviceMergeRequest) => call("POST", path(id, "/merge"), DeviceProfile, { body: request }),
  /** One that is two. @returns The one that came of it. */
  splitDevice: (id: string, request: DeviceSplitRequest) => call("POST", path(id, "/split"), DeviceProfile, { body: request }),
});
