import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { addressesRoutes } from "./address-routes.ts";
import { createAddressesService } from "./addresses-service.ts";
import { createConflictWatch } from "./conflict-watch.ts";
import { listConflicts } from "./conflicts.ts";
import { createIpamImporter } from "./import.ts";
import { createPrefixesService } from "./prefixes-service.ts";
import { prefixesRoutes } from "./prefix-routes.ts";
import { createIpamStore } from "./store.ts";

/** The routes of the IPAM service, and its look at conflicts. */
export function createIpam(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
  readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
}) {
  const parts = { ...deps, store: createIpamStore(deps) };
  const importer = createIpamImporter(parts);
  const { run, close } = createConflictWatch(parts);
  return {
    routes: [
      prefixesRoutes(createPrefixesService(parts), importer),
      addressesRoutes(createAddressesService(parts), importer, (tenantId, query) => listConflicts(parts.store, tenantId, query)),
    ],
    run, close,
  };
}
