import { licenseOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { LicenseService } from "./service.ts";

const { endpoint, routes } = endpointsOf<LicenseService>();

/** `/license`. */
export const licenseRoutes = routes(
  endpoint("license:read", licenseOperations.readLicense, {
    summary: "Read the license that applies", description: "Without one the community license applies, which limits nothing.",
    answer: "The license, and how much of it is in use",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId), 200)),
  endpoint("license:write", licenseOperations.uploadLicense, {
    summary: "Upload a license",
    description: "It replaces the current license. It is verified offline: EdDSA, by an issuer in `license.issuer_files`.",
    example: { license: "eyJhbGciOiJFZERTQSIsInR5cCI6ImxpY2Vuc2Urand0In0.e30.c2ln" }, answer: "The license as it applies now",
  }, async (c, service) => c.json(await service.put(actorOf(c), c.req.valid("json").license), 200)),
  endpoint("license:write", licenseOperations.deleteLicense, {
    summary: "Delete the license", answer: "The community license applies",
  }, async (c, service) => {
    await service.remove(actorOf(c));
    return c.body(null, 204);
  }),
);
