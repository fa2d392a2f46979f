import { ConfigVersion, configVersionsOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { conflict, json } from "../../gateway/route.ts";
import type { ConfigVersionsService } from "./service.ts";

const EXAMPLE = {
  content: "hostname sw-store12\ninterface GigabitEthernet0/1\n switchport access vlan 20\n", changed_by: "admin", comment: "nightly",
};
const UNREADABLE = conflict("The text was encrypted with a key that the collector does not have");

const { endpoint, routes } = endpointsOf<ConfigVersionsService>();

/** `/cmod/devices/…`. */
export const configVersionsRoutes = routes(
  endpoint("config:write", configVersionsOperations.uploadDeviceConfiguration, {
    summary: "Upload a device's running configuration",
    description: "It becomes a new version if it differs from the newest one; lines that only show the time do not count. It "
    + "is encrypted at rest.",
    example: EXAMPLE, answer: "Nothing has changed: the newest version",
    also: { 201: { description: "The new version", content: json(ConfigVersion) } },
  }, async (c, service) => {
    const { device_id: deviceId } = c.req.valid("param");
    const { version, isNew } = await service.upload(actorOf(c), deviceId, c.req.valid("json"));
    if (!isNew) return c.json(version, 200);
    return c.json(version, 201, { location: `/api/v1/cmod/devices/${deviceId}/versions/${version.id}` });
  }),
  endpoint("config:read", configVersionsOperations.listDeviceConfigurations, {
    summary: "List the versions of a device's configuration", answer: "Versions, newest first",
  }, async (c, service) =>
    c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200)),
  endpoint("config:read", configVersionsOperations.readDeviceConfiguration, {
    summary: "Read a configuration without its secrets", answer: "The version with its text", also: UNREADABLE,
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.read(identityOf(c).tenantId, deviceId, versionId), 200);
  }),
  endpoint("vault:reveal", configVersionsOperations.revealDeviceConfiguration, {
    "x-secret": "shown", summary: "Read a configuration with its secrets", description: "Each call is recorded in the audit log.",
    answer: "The version with its text",
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.reveal(actorOf(c), deviceId, versionId), 200);
  }),
  endpoint("config:write", configVersionsOperations.deleteDeviceConfiguration, {
    summary: "Delete a version of a configuration", answer: "Deleted; the others keep their numbers",
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    await service.remove(actorOf(c), deviceId, versionId);
    return c.body(null, 204);
  }),
  endpoint("config:read", configVersionsOperations.compareDeviceConfigurations, {
    summary: "Compare two versions without their secrets", description: "A changed secret is a changed line; its values are hidden.",
    answer: "The difference in the unified format", also: UNREADABLE,
  }, async (c, service) => c.json(await service.diff(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query")), 200)),
  endpoint("vault:reveal", configVersionsOperations.revealDeviceConfigurationDiff, {
    "x-secret": "shown", summary: "Compare two versions with their secrets", description: "Each call is recorded in the audit log.",
    example: {}, answer: "The difference in the unified format",
  }, async (c, service) => c.json(await service.revealDiff(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200)),
);
