import { License, LicenseUpload } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { LicenseService } from "./service.ts";

const read = declareRoute("license:read", {
  method: "get",
  path: "/license",
  operationId: "readLicense",
  summary: "Read the license that applies",
  description: "Without one the community license applies, which limits nothing.",
  responses: { 200: { description: "The license, and how much of it is in use", content: json(License) } },
});

const put = declareRoute("license:write", {
  method: "put",
  path: "/license",
  operationId: "uploadLicense",
  summary: "Upload a license",
  description: "It replaces the current license. It is verified offline: EdDSA, by an issuer in `license.issuer_files`.",
  request: { body: jsonBody(LicenseUpload, { license: "eyJhbGciOiJFZERTQSIsInR5cCI6ImxpY2Vuc2Urand0In0.e30.c2ln" }) },
  responses: { 200: { description: "The license as it applies now", content: json(License) } },
});

const remove = declareRoute("license:write", {
  method: "delete",
  path: "/license",
  operationId: "deleteLicense",
  summary: "Delete the license",
  responses: { 204: { description: "The community license applies" } },
});

/** `/license`. */
export function licenseRoutes(service: LicenseService) {
  const router = createRouter();
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId), 200));
  router.openapi(put, async (c) => c.json(await service.put(actorOf(c), c.req.valid("json").license), 200));
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c));
    return c.body(null, 204);
  });
  return router;
}
