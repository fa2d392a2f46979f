import type { Clock } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import { addressesRoutes } from "./address-routes.ts";
import { createAddressesService } from "./addresses-service.ts";
import { listConflicts } from "./conflicts.ts";
import { createIpamImporter } from "./import.ts";
import { createPrefixesService } from "./prefixes-service.ts";
import { prefixesRoutes } from "./prefix-routes.ts";
import { createIpamStore } from "./store.ts";

/** The routes of the IPAM service. */
export function createIpam(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}) {
  const parts = { ...deps, store: createIpamStore(deps) };
  const importer = createIpamImporter(parts);
  return [
    prefixesRoutes(createPrefixesService(parts), importer),
    addressesRoutes(createAddressesService(parts), importer, (tenantId, query) => listConflicts(parts.store, tenantId, query)),
  ] as const;
}
