import { z } from "@hono/zod-openapi";
import { devicesOperations } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { DevicesService } from "./service.ts";

/** An id as the documentation shows it. */
const EXAMPLE_ID = "01989f2e-7c11-7aa0-b3c4-5d6e7f809103";

const { endpoint, routes } = endpointsOf<DevicesService>();

/** `/devices` and what is below it. */
export const devicesRoutes = routes(
  endpoint("devices:read", devicesOperations.listDevices, {
    summary: "List devices", answer: "Devices",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  // Before the route of one device, which would take the word for an id.
  endpoint("devices:read", devicesOperations.exportDevices, {
    summary: "Export devices as CSV", description: "All pages of the list in the format of RFC 4180, with a header line. "
    + "A cell that a spreadsheet would read as a formula begins with an apostrophe.",
    answer: [200, "One line for each device", { "text/csv": { schema: z.string() } }],
  }, async (c, service) => answerCsv(c, "devices.csv", await service.exportCsv(identityOf(c).tenantId, c.req.valid("query")))),
  endpoint("devices:read", devicesOperations.countDevices, {
    summary: "Count devices by what they are",
    description: "Of the devices that the list's filters leave: how many have each value of some fields. `total` is the list's.", answer: "Counts",
  }, async (c, service) => c.json(await service.facets(identityOf(c).tenantId, c.req.valid("query")), 200)),
  endpoint("devices:write", devicesOperations.createDevice, {
    summary: "Add a device",
    description: "The vendor is that of the MAC. Stream and webhooks get `host_found` and `device.discovered`, as for one that a probe found; "
    + "a device without an address is announced when a probe first sees it. Hostname, type and tags are locked where they are set, "
    + "address and MAC where `locked_fields` names them.",
    answer: "The new device",
  }, async (c, service) => {
    const device = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(device, 201, { location: `/api/v1/devices/${device.id}` });
  }),
  endpoint("devices:write", devicesOperations.changeDevices, {
    summary: "Change many devices",
    description: "All that a text in the filter language leaves, or those of some `ids`. If their number is not `expected_count`, the answer is 409 with the "
    + "true one in `details.count`, and nothing is changed. Each is changed as by itself, with its own history and audit record. They are changed in pieces: "
    + "what fails midway leaves the rest as it was. A tenant has one bulk change of devices at a time; a second one is answered 429. "
    + "Where thousands are deleted, that may outlast the time limit of a request: it is answered 503, and goes on.",
    example: { filter: "type:printer -tag:lab", expected_count: 214, change: { add_tags: ["lab"] } }, answer: "How many were changed",
  }, async (c, service) => c.json(await service.changeAll(actorOf(c), c.req.valid("json")), 200)),
  endpoint("devices:read", devicesOperations.readDevice, {
    summary: "Read a device's full profile", answer: "The full profile",
  }, async (c, service) => c.json(await service.profile(identityOf(c).tenantId, c.req.valid("param").device_id), 200)),
  endpoint("devices:write", devicesOperations.updateDevice, {
    summary: "Change a device",
    description: "Fields left out stay. A field that is set is locked: discovery never overwrites it. Null unlocks it.",
    answer: "The device as it is now",
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200)),
  endpoint("devices:write", devicesOperations.deleteDevice, {
    summary: "Delete a device", description: "If it is still on the network, it is found again as a new device. The event log is kept.",
    answer: "Deleted",
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").device_id);
    return c.body(null, 204);
  }),
  endpoint("devices:read", devicesOperations.listDevicePorts, {
    summary: "List a device's ports", answer: "Ports by number",
  }, async (c, service) => c.json(await service.ports(identityOf(c).tenantId, c.req.valid("param").device_id), 200)),
  endpoint("devices:read", devicesOperations.listDeviceHistory, {
    summary: "List a device's changes, newest first", answer: "Changes",
  }, async (c, service) =>
    c.json(toAnswer(await service.history(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200)),
  endpoint("devices:read", devicesOperations.listSimilarDevices, {
    summary: "List devices that may be the same one",
    description: "With what they have in common. A shared key (as an SSH host key) merges devices automatically unless something "
    + "contradicts it; a name, an address, a vendor or a random MAC only adds to the score. Merge those that are the same.",
    answer: "Devices with their scores",
  }, async (c, service) =>
    c.json(toAnswer(await service.similar(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200)),
  endpoint("devices:write", devicesOperations.mergeDevices, {
    summary: "Merge two devices",
    description: "With `into` the other one is kept, with `with` this one. Values that users set come first. The id of the merged device "
    + "answers 404 with `details.merged_into`; its logged events keep its id. A split undoes the merge.",
    example: { into: EXAMPLE_ID }, answer: "The device that is kept",
  }, async (c, service) => c.json(await service.merge(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200)),
  endpoint("devices:write", devicesOperations.splitDevice, {
    summary: "Split a device",
    description: "With `merge_id` (one of the profile's `merges`) both devices are restored, with later findings on the one "
    + "that they belong to. With `interfaces` (MACs, not all of the device's) they and their addresses become a separate device. "
    + "Discovery keeps the two apart from then on.",
    example: { merge_id: EXAMPLE_ID }, answer: "The new or restored device",
  }, async (c, service) => {
    const device = await service.split(actorOf(c), c.req.valid("param").device_id, c.req.valid("json"));
    return c.json(device, 201, { location: `/api/v1/devices/${device.id}` });
  }),
);
