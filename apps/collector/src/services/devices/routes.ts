import { z } from "@hono/zod-openapi";
import {
  Device, DeviceChange, DeviceCreate, DeviceMergeRequest, DevicePorts, DeviceProfile, DevicesExportQuery, DeviceSplitRequest, DevicesQuery,
  DeviceUpdate, Id, IdPageQuery, listEnvelope, SimilarDevice,
} from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { DevicesService } from "./service.ts";

const params = z.object({ device_id: Id });

const list = declareRoute("devices:read", {
  method: "get",
  path: "/devices",
  operationId: "listDevices",
  summary: "List devices",
  request: { query: DevicesQuery },
  responses: { 200: { description: "Devices", content: json(listEnvelope(Device)) } },
});

const exportCsv = declareRoute("devices:read", {
  method: "get",
  path: "/devices/export",
  operationId: "exportDevices",
  summary: "Export devices as CSV",
  description: "All pages of the list as RFC 4180 has it, with a header line. "
    + "A cell that a spreadsheet would take for a formula begins with an apostrophe.",
  request: { query: DevicesExportQuery },
  responses: { 200: { description: "One line for each device", content: { "text/csv": { schema: z.string() } } } },
});

const create = declareRoute("devices:write", {
  method: "post",
  path: "/devices",
  operationId: "createDevice",
  summary: "Add a device",
  description: "The vendor is that of the MAC. Stream and webhooks get `host_found` and `device.discovered`, as for one that a probe found; "
    + "a device without an address is announced when a probe first sees it. Hostname, type and tags are locked where they are set, "
    + "address and MAC where `locked_fields` names them.",
  request: { body: jsonBody(DeviceCreate) },
  responses: { 201: { description: "The new device", content: json(DeviceProfile) } },
});

const read = declareRoute("devices:read", {
  method: "get",
  path: "/devices/{device_id}",
  operationId: "readDevice",
  summary: "Read a device's full profile",
  request: { params },
  responses: { 200: { description: "The full profile", content: json(DeviceProfile) } },
});

const update = declareRoute("devices:write", {
  method: "put",
  path: "/devices/{device_id}",
  operationId: "updateDevice",
  summary: "Change a device",
  description: "Fields left out stay. A field that is set is locked: discovery never overwrites it. Null unlocks it.",
  request: { params, body: jsonBody(DeviceUpdate) },
  responses: { 200: { description: "The device as it is now", content: json(DeviceProfile) } },
});

const remove = declareRoute("devices:write", {
  method: "delete",
  path: "/devices/{device_id}",
  operationId: "deleteDevice",
  summary: "Delete a device",
  description: "If it is still on the network, it is found again as a new device. The event log is kept.",
  request: { params },
  responses: { 204: { description: "Deleted" } },
});

const ports = declareRoute("devices:read", {
  method: "get",
  path: "/devices/{device_id}/ports",
  operationId: "listDevicePorts",
  summary: "List a device's ports",
  request: { params },
  responses: { 200: { description: "Ports by number", content: json(DevicePorts) } },
});

const history = declareRoute("devices:read", {
  method: "get",
  path: "/devices/{device_id}/history",
  operationId: "listDeviceHistory",
  summary: "List a device's changes, newest first",
  request: { params, query: IdPageQuery },
  responses: { 200: { description: "Changes", content: json(listEnvelope(DeviceChange)) } },
});

const similar = declareRoute("devices:read", {
  method: "get",
  path: "/devices/{device_id}/similar",
  operationId: "listSimilarDevices",
  summary: "List devices that may be the same one",
  description: "With what they have in common. A key (as an SSH host key) joins devices by itself unless something "
    + "speaks against it; a name, an address, a vendor or a random MAC only scores. Merge those that are the same.",
  request: { params, query: IdPageQuery },
  responses: { 200: { description: "Devices with their scores", content: json(listEnvelope(SimilarDevice)) } },
});

/** An id as the documentation shows it. */
const EXAMPLE_ID = "01989f2e-7c11-7aa0-b3c4-5d6e7f809103";

const merge = declareRoute("devices:write", {
  method: "post",
  path: "/devices/{device_id}/merge",
  operationId: "mergeDevices",
  summary: "Merge two devices",
  description: "With `into` the other one is kept, with `with` this one. What people set counts first. The device that is gone "
    + "answers 404 with `details.merged_into`; events that were logged of it keep its id. It can be undone: see split.",
  request: { params, body: jsonBody(DeviceMergeRequest, { into: EXAMPLE_ID }) },
  responses: { 200: { description: "The device that is kept", content: json(DeviceProfile) } },
});

const split = declareRoute("devices:write", {
  method: "post",
  path: "/devices/{device_id}/split",
  operationId: "splitDevice",
  summary: "Split a device",
  description: "With `merge_id` (one of the profile's `merges`) both devices are as they were, with what was learned since on the one "
    + "that it is about. With `interfaces` (MACs, not all of the device's) they and their addresses become a device of their own. "
    + "Discovery keeps the two apart from then on.",
  request: { params, body: jsonBody(DeviceSplitRequest, { merge_id: EXAMPLE_ID }) },
  responses: { 201: { description: "The device that came, or came back, of it", content: json(DeviceProfile) } },
});

/** `/devices` and what is below it. */
export function devicesRoutes(service: DevicesService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  // Before the route of one device, which would take the word for an id.
  router.openapi(
    exportCsv, async (c) => answerCsv(c, "devices.csv", await service.exportCsv(identityOf(c).tenantId, c.req.valid("query"))),
  );
  router.openapi(create, async (c) => {
    const device = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(device, 201, { location: `/api/v1/devices/${device.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.profile(identityOf(c).tenantId, c.req.valid("param").device_id), 200));
  router.openapi(update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").device_id);
    return c.body(null, 204);
  });
  router.openapi(ports, async (c) => c.json(await service.ports(identityOf(c).tenantId, c.req.valid("param").device_id), 200));
  router.openapi(
    history,
    async (c) => c.json(toAnswer(await service.history(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200),
  );
  router.openapi(
    similar,
    async (c) => c.json(toAnswer(await service.similar(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200),
  );
  router.openapi(merge, async (c) => c.json(await service.merge(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200));
  router.openapi(split, async (c) => {
    const device = await service.split(actorOf(c), c.req.valid("param").device_id, c.req.valid("json"));
    return c.json(device, 201, { location: `/api/v1/devices/${device.id}` });
  });
  return router;
}
