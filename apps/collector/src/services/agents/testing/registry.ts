import { type Clock, silentLog } from "@lanthorn/runtime";
import type { Database } from "../../../db/open.ts";
import type { IngestDependencies } from "../../../ingest/ingest.ts";
import { createAudit } from "../../audit/audit.ts";
import { createHealthHistory } from "../health-history.ts";
import { createSettingsService } from "../settings-service.ts";

/** What ingest asks the agent registry, over a test's database; no probe has credentials. */
export function createTestRegistry(
  { db, reads, clock }: Pick<Database, "db" | "reads"> & { readonly clock: Clock },
): IngestDependencies["registry"] {
  return {
    ...createSettingsService({
      db, reads, audit: createAudit({ clock }), onConfigured: async () => {},
      bundles: { listFor: () => Promise.resolve([]) }, guards: { partFor: () => Promise.resolve(undefined) }, captures: { partFor: () => Promise.resolve(undefined) }, anomalies: { partFor: () => Promise.resolve(undefined) },
      decoys: { partFor: () => Promise.resolve(undefined), passwordKey: () => undefined },
      credentials: { sealedFor: () => Promise.resolve(undefined), countFor: () => Promise.resolve(0) },
    }),
    ...createHealthHistory({ db, clock: { ...clock, every: () => () => {} }, logger: silentLog }),
  };
}
