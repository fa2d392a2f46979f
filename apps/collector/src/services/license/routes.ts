import { License, LicenseUpload } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { LicenseService } from "./service.ts";

const { endpoint, routes } = endpointsOf<LicenseService>();

/** `/license`. */
export const licenseRoutes = routes(
  endpoint("license:read", "GET /license", {
    operationId: "readLicense", summary: "Read the license that applies",
    description: "Without one the community license applies, which limits nothing.",
    answer: [200, "The license, and how much of it is in use", License],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId), 200)),
  endpoint("license:write", "PUT /license", {
    operationId: "uploadLicense", summary: "Upload a license",
    description: "It replaces the current license. It is verified offline: EdDSA, by an issuer in `license.issuer_files`.",
    body: jsonBody(LicenseUpload, { license: "eyJhbGciOiJFZERTQSIsInR5cCI6ImxpY2Vuc2Urand0In0.e30.c2ln" }),
    answer: [200, "The license as it applies now", License],
  }, async (c, service) => c.json(await service.put(actorOf(c), c.req.valid("json").license), 200)),
  endpoint("license:write", "DELETE /license", {
    operationId: "deleteLicense", summary: "Delete the license", answer: [204, "The community license applies"],
  }, async (c, service) => {
    await service.remove(actorOf(c));
    return c.body(null, 204);
  }),
);
