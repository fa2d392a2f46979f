import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Job } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import { addressesRoutes } from "./address-routes.ts";
import { createAddressesService } from "./addresses-service.ts";
import { createConflictWatch } from "./conflict-watch.ts";
import { listConflicts } from "./conflicts.ts";
import { createFreeAddressFinder, type FindFreeAddress } from "./free-address.ts";
import { createIpamImporter } from "./import.ts";
import { createPrefixesService } from "./prefixes-service.ts";
import { prefixesRoutes } from "./prefix-routes.ts";
import { createIpamStore } from "./store/plan.ts";

/** The IPAM service, with the job that looks for conflicts. */
export function createIpam(deps: {
  readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
  readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
}): ServiceModule & { readonly conflicts: Job<void>; readonly freeAddress: FindFreeAddress } {
  const parts = { ...deps, store: createIpamStore(deps) };
  const importer = createIpamImporter(parts);
  const conflicts = createConflictWatch(parts);
  return {
    name: "IPAM", mount: "ipam",
    routes: [
      prefixesRoutes({ service: createPrefixesService(parts), importer }),
      addressesRoutes({
        service: createAddressesService(parts), importer, listConflicts: (tenantId, query) => listConflicts(parts.store, tenantId, query),
      }),
    ],
    conflicts, jobs: [conflicts], freeAddress: createFreeAddressFinder(parts),
  };
}
