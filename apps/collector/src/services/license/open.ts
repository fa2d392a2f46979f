import type { Lifecycle } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Configuration } from "../../configuration.ts";
import type { Schema } from "../../db/schema.ts";
import { licenseRoutes } from "./routes.ts";
import { createLicenseService, type LicenseService } from "./service.ts";
import { createLicenseStore } from "./store.ts";
import { readIssuers } from "./verify.ts";

/**
 * The licences as a configuration wants them.
 * @throws CollectorError `config-invalid` for an issuer's key that cannot be used.
 */
export function openLicense(
  { license }: Pick<Configuration, "license">,
  deps: Omit<Parameters<typeof createLicenseService>[0], "store"> & {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly lifecycle: Lifecycle;
  },
): { readonly routes: ReturnType<typeof licenseRoutes>; readonly health: LicenseService["health"] } {
  const service = createLicenseService(
    { ...deps, store: createLicenseStore(deps) }, { issuers: readIssuers(license.issuer_files), warnDays: license.warn_days },
  );
  deps.lifecycle.onClose("licences", () => service.close());
  return { routes: licenseRoutes(service), health: () => service.health() };
}
