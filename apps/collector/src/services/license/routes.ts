import { License, LicenseUpload } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { LicenseService } from "./service.ts";

const read = declareRoute("license:read", {
  method: "get",
  path: "/license",
  summary: "Read the licence that applies",
  description: "Without one the community licence applies, which limits nothing.",
  responses: { 200: { description: "The licence, and how much of it is in use", content: json(License) } },
});

const put = declareRoute("license:write", {
  method: "put",
  path: "/license",
  summary: "Upload a licence",
  description: "In place of the one before. It is verified here, without asking anybody: EdDSA, by an issuer in `license.issuer_files`.",
  request: { body: jsonBody(LicenseUpload, { license: "eyJhbGciOiJFZERTQSIsInR5cCI6ImxpY2Vuc2Urand0In0.e30.c2ln" }) },
  responses: { 200: { description: "The licence as it applies now", content: json(License) } },
});

const remove = declareRoute("license:write", {
  method: "delete",
  path: "/license",
  summary: "Delete the licence",
  responses: { 204: { description: "The community licence applies" } },
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
