import { z } from "@hono/zod-openapi";
import {
  ConfigDiff, ConfigDiffQuery, ConfigDiffReveal, ConfigVersion, ConfigVersionContent, ConfigVersionUpload, Id, IdPageQuery, listEnvelope,
} from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { conflict, json, jsonBody } from "../../gateway/route.ts";
import type { ConfigVersionsService } from "./service.ts";

const OfDevice = z.object({ device_id: Id });
const OfVersion = OfDevice.extend({ version_id: Id });
const DEVICE = "/cmod/devices/{device_id}";
const VERSION = `${DEVICE}/versions/{version_id}`;
const EXAMPLE = {
  content: "hostname sw-store12\ninterface GigabitEthernet0/1\n switchport access vlan 20\n", changed_by: "admin", comment: "nightly",
};
const UNREADABLE = conflict("The text was encrypted with a key that the collector does not have");

const { endpoint, routes } = endpointsOf<ConfigVersionsService>();

/** `/cmod/devices/…`. */
export const configVersionsRoutes = routes(
  endpoint("config:write", `POST ${DEVICE}/versions`, {
    operationId: "uploadDeviceConfiguration", summary: "Upload a device's running configuration",
    description: "It becomes a new version if it differs from the newest one; lines that only show the time do not count. It "
    + "is encrypted at rest.",
    params: OfDevice, body: jsonBody(ConfigVersionUpload, EXAMPLE), answer: [200, "Nothing has changed: the newest version", ConfigVersion],
    also: { 201: { description: "The new version", content: json(ConfigVersion) } },
  }, async (c, service) => {
    const { device_id: deviceId } = c.req.valid("param");
    const { version, isNew } = await service.upload(actorOf(c), deviceId, c.req.valid("json"));
    if (!isNew) return c.json(version, 200);
    return c.json(version, 201, { location: `/api/v1/cmod/devices/${deviceId}/versions/${version.id}` });
  }),
  endpoint("config:read", `GET ${DEVICE}/versions`, {
    operationId: "listDeviceConfigurations", summary: "List the versions of a device's configuration", params: OfDevice, query: IdPageQuery,
    answer: [200, "Versions, newest first", listEnvelope(ConfigVersion)],
  }, async (c, service) =>
    c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200)),
  endpoint("config:read", `GET ${VERSION}`, {
    operationId: "readDeviceConfiguration", summary: "Read a configuration without its secrets", params: OfVersion,
    answer: [200, "The version with its text", ConfigVersionContent], also: UNREADABLE,
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.read(identityOf(c).tenantId, deviceId, versionId), 200);
  }),
  endpoint("vault:reveal", `POST ${VERSION}/reveal`, {
    "x-secret": "shown", operationId: "revealDeviceConfiguration", summary: "Read a configuration with its secrets",
    description: "Each call is recorded in the audit log.", params: OfVersion,
    answer: [200, "The version with its text", ConfigVersionContent],
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.reveal(actorOf(c), deviceId, versionId), 200);
  }),
  endpoint("config:write", `DELETE ${VERSION}`, {
    operationId: "deleteDeviceConfiguration", summary: "Delete a version of a configuration", params: OfVersion,
    answer: [204, "Deleted; the others keep their numbers"],
  }, async (c, service) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    await service.remove(actorOf(c), deviceId, versionId);
    return c.body(null, 204);
  }),
  endpoint("config:read", `GET ${DEVICE}/diff`, {
    operationId: "compareDeviceConfigurations", summary: "Compare two versions without their secrets",
    description: "A changed secret is a changed line; its values are hidden.", params: OfDevice, query: ConfigDiffQuery,
    answer: [200, "The difference in the unified format", ConfigDiff], also: UNREADABLE,
  }, async (c, service) => c.json(await service.diff(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query")), 200)),
  endpoint("vault:reveal", `POST ${DEVICE}/diff/reveal`, {
    "x-secret": "shown", operationId: "revealDeviceConfigurationDiff", summary: "Compare two versions with their secrets",
    description: "Each call is recorded in the audit log.", params: OfDevice, body: jsonBody(ConfigDiffReveal, {}),
    answer: [200, "The difference in the unified format", ConfigDiff],
  }, async (c, service) => c.json(await service.revealDiff(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200)),
);
