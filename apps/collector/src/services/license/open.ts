import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { LicenseSettings } from "./configuration.ts";
import { licenseRoutes } from "./routes.ts";
import { createLicenseService } from "./service.ts";
import { createLicenseStore } from "./store.ts";
import { readIssuers } from "./verify.ts";

/**
 * The licenses as a configuration wants them.
 * @throws CollectorError `config-invalid` for an issuer's key that cannot be used.
 */
export function openLicense(
  { license }: { readonly license: LicenseSettings },
  deps: Omit<Parameters<typeof createLicenseService>[0], "store"> & {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>;
  },
): ServiceModule {
  const service = createLicenseService(
    { ...deps, store: createLicenseStore(deps) }, { issuers: readIssuers(license.issuer_files), warnDays: license.warn_days },
  );
  return {
    name: "licenses", mount: "license", routes: [licenseRoutes(service)], jobs: [service.job], health: { licenses: () => service.health() },
  };
}
