import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createAlertReaction } from "./reaction/reaction.ts";
import { alertsRoutes } from "./routes.ts";
import { type AlertsService, createAlertsService } from "./service.ts";
import { createAlertsStore } from "./store.ts";
import { type AlertMaintenance, createAlertMaintenance } from "./maintenance.ts";

/** Alerts: what raises them is their reaction to events. */
export interface Alerts extends ServiceModule, AlertMaintenance, Pick<AlertsService, "resolve"> {}

/**
 * @param options.keepDays How long resolved alerts are kept.
 * @param options.maxOpen Alerts of one type at a site that may be open by what probes report.
 */
export function createAlerts(
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: Pick<EventLog, "append">;
    readonly published: (tenantId: string, fromSeq: number) => void; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
  },
  options: { readonly keepDays: number; readonly maxOpen: number },
): Alerts {
  const maintenance = createAlertMaintenance(deps, options);
  const service = createAlertsService({ ...deps, store: createAlertsStore(deps) });
  return {
    name: "alerts", mount: "gateway", routes: [alertsRoutes(service)], resolve: service.resolve,
    reactions: { alerts: createAlertReaction(options) }, jobs: [maintenance.job], ...maintenance,
  };
}
