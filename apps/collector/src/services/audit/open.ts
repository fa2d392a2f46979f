import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createRecordRetention } from "../../retention/records.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { AuditSettings, RejectedSettings } from "./configuration.ts";
import { auditRoutes } from "./routes.ts";
import { createAuditService } from "./service.ts";
import { createAuditStore } from "./store.ts";

/** Who reads the audit log, and what keeps it and other records of a tenant within bounds. */
export function openAudit(
  { audit, rejected }: { readonly audit: AuditSettings; readonly rejected: RejectedSettings },
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly logger: Log },
): ServiceModule {
  const { db, reads, clock, logger } = deps;
  const retention = createRecordRetention({ db, reads, clock, log: logger }, {
    audit: { keepDays: audit.keep_days, keepRecords: audit.keep_records, keepAuthenticationDays: audit.keep_authentication_days },
    rejected: { keepDays: rejected.keep_days, keepBytes: rejected.keep_megabytes * 1e6 },
  });
  return {
    name: "audit", mount: "gateway", routes: [auditRoutes(createAuditService({ store: createAuditStore({ reads }), clock }))],
    retention: [retention],
  };
}
