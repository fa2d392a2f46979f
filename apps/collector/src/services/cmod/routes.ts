import { z } from "@hono/zod-openapi";
import {
  ConfigDiff, ConfigDiffQuery, ConfigDiffReveal, ConfigVersion, ConfigVersionContent, ConfigVersionUpload, Id, IdPageQuery, listEnvelope,
} from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { conflict, createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { CmodService } from "./service.ts";

const OfDevice = z.object({ device_id: Id });
const OfVersion = OfDevice.extend({ version_id: Id });
const DEVICE = "/cmod/devices/{device_id}";
const VERSION = `${DEVICE}/versions/{version_id}`;
const EXAMPLE = {
  content: "hostname sw-store12\ninterface GigabitEthernet0/1\n switchport access vlan 20\n", changed_by: "admin", comment: "nightly",
};
const UNREADABLE = conflict("The text was encrypted with a key that the collector does not have");

const upload = declareRoute("config:write", {
  method: "post",
  path: `${DEVICE}/versions`,
  operationId: "uploadDeviceConfiguration",
  summary: "Upload a device's running configuration",
  description: "It becomes a new version if it differs from the newest one; lines that only show the time do not count. It "
    + "is encrypted at rest.",
  request: { params: OfDevice, body: jsonBody(ConfigVersionUpload, EXAMPLE) },
  responses: {
    200: { description: "Nothing has changed: the newest version", content: json(ConfigVersion) },
    201: { description: "The new version", content: json(ConfigVersion) },
  },
});

const list = declareRoute("config:read", {
  method: "get",
  path: `${DEVICE}/versions`,
  operationId: "listDeviceConfigurations",
  summary: "List the versions of a device's configuration",
  request: { params: OfDevice, query: IdPageQuery },
  responses: { 200: { description: "Versions, newest first", content: json(listEnvelope(ConfigVersion)) } },
});

const read = declareRoute("config:read", {
  method: "get",
  path: VERSION,
  operationId: "readDeviceConfiguration",
  summary: "Read a configuration without its secrets",
  request: { params: OfVersion },
  responses: { 200: { description: "The version with its text", content: json(ConfigVersionContent) }, ...UNREADABLE },
});

const reveal = declareRoute("vault:reveal", {
  method: "post",
  path: `${VERSION}/reveal`,
  "x-secret": "shown",
  operationId: "revealDeviceConfiguration",
  summary: "Read a configuration with its secrets",
  description: "Each call is recorded in the audit log.",
  request: { params: OfVersion },
  responses: { 200: { description: "The version with its text", content: json(ConfigVersionContent) } },
});

const remove = declareRoute("config:write", {
  method: "delete",
  path: VERSION,
  operationId: "deleteDeviceConfiguration",
  summary: "Delete a version of a configuration",
  request: { params: OfVersion },
  responses: { 204: { description: "Deleted; the others keep their numbers" } },
});

const diff = declareRoute("config:read", {
  method: "get",
  path: `${DEVICE}/diff`,
  operationId: "compareDeviceConfigurations",
  summary: "Compare two versions without their secrets",
  description: "A changed secret is a changed line; its values are hidden.",
  request: { params: OfDevice, query: ConfigDiffQuery },
  responses: { 200: { description: "The difference in the unified format", content: json(ConfigDiff) }, ...UNREADABLE },
});

const revealDiff = declareRoute("vault:reveal", {
  method: "post",
  path: `${DEVICE}/diff/reveal`,
  "x-secret": "shown",
  operationId: "revealDeviceConfigurationDiff",
  summary: "Compare two versions with their secrets",
  description: "Each call is recorded in the audit log.",
  request: { params: OfDevice, body: jsonBody(ConfigDiffReveal, {}) },
  responses: { 200: { description: "The difference in the unified format", content: json(ConfigDiff) } },
});

/** `/cmod/devices/…`. */
export function cmodRoutes(service: CmodService) {
  const router = createRouter();
  router.openapi(upload, async (c) => {
    const { device_id: deviceId } = c.req.valid("param");
    const { version, isNew } = await service.upload(actorOf(c), deviceId, c.req.valid("json"));
    if (!isNew) return c.json(version, 200);
    return c.json(version, 201, { location: `/api/v1/cmod/devices/${deviceId}/versions/${version.id}` });
  });
  router.openapi(list, async (c) =>
    c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.read(identityOf(c).tenantId, deviceId, versionId), 200);
  });
  router.openapi(reveal, async (c) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    return c.json(await service.reveal(actorOf(c), deviceId, versionId), 200);
  });
  router.openapi(remove, async (c) => {
    const { device_id: deviceId, version_id: versionId } = c.req.valid("param");
    await service.remove(actorOf(c), deviceId, versionId);
    return c.body(null, 204);
  });
  router.openapi(
    diff, async (c) => c.json(await service.diff(identityOf(c).tenantId, c.req.valid("param").device_id, c.req.valid("query")), 200),
  );
  router.openapi(
    revealDiff, async (c) => c.json(await service.revealDiff(actorOf(c), c.req.valid("param").device_id, c.req.valid("json")), 200),
  );
  return router;
}
