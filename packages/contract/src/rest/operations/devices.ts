import * as z from "zod";
import { Id } from "../../values.ts";
import { BulkResult } from "../bulk.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import {
  Device, DeviceBulkRequest, DeviceChange, DeviceCreate, DeviceMergeRequest, DevicePorts, DeviceProfile, DeviceSplitRequest, DeviceUpdate,
  DevicesExportQuery, DevicesQuery, SimilarDevice,
} from "../devices.ts";
import { DeviceFacets, DeviceFacetsQuery } from "../facets.ts";
import { operations } from "../operation.ts";

const OfDevice = z.object({ device_id: Id });

/** The inventory. */
export const devicesOperations = operations({
  listDevices: { target: "GET /devices", query: DevicesQuery, status: 200, answer: listEnvelope(Device) },
  /** The whole list as CSV, with the list's filters. */
  exportDevices: { target: "GET /devices/export", query: DevicesExportQuery, status: 200, content: "text/csv" },
  /** How often values occur in the list. */
  countDevices: { target: "GET /devices/facets", query: DeviceFacetsQuery, status: 200, answer: DeviceFacets },
  createDevice: { target: "POST /devices", body: DeviceCreate, status: 201, answer: DeviceProfile },
  /** One change of all devices that a filter leaves. */
  changeDevices: { target: "POST /devices/bulk", body: DeviceBulkRequest, status: 200, answer: BulkResult },
  readDevice: { target: "GET /devices/{device_id}", params: OfDevice, status: 200, answer: DeviceProfile },
  updateDevice: { target: "PUT /devices/{device_id}", params: OfDevice, body: DeviceUpdate, status: 200, answer: DeviceProfile },
  deleteDevice: { target: "DELETE /devices/{device_id}", params: OfDevice, status: 204 },
  listDevicePorts: { target: "GET /devices/{device_id}/ports", params: OfDevice, status: 200, answer: DevicePorts },
  listDeviceHistory: {
    target: "GET /devices/{device_id}/history", params: OfDevice, query: IdPageQuery, status: 200, answer: listEnvelope(DeviceChange),
  },
  /** Devices that may be the same one, the likeliest first. */
  listSimilarDevices: {
    target: "GET /devices/{device_id}/similar", params: OfDevice, query: IdPageQuery, status: 200, answer: listEnvelope(SimilarDevice),
  },
  /** Two that are one. Answers the one that is kept. */
  mergeDevices: {
    target: "POST /devices/{device_id}/merge", params: OfDevice, body: DeviceMergeRequest, status: 200, answer: DeviceProfile,
  },
  /** One that is two. Answers the one that came of it. */
  splitDevice: {
    target: "POST /devices/{device_id}/split", params: OfDevice, body: DeviceSplitRequest, status: 201, answer: DeviceProfile,
  },
});
