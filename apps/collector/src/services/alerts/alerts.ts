import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import { alertsRoutes } from "./routes.ts";
import { createAlertsService } from "./service.ts";
import { createAlertsStore } from "./store.ts";
import { type AlertUpkeep, createAlertUpkeep } from "./upkeep.ts";

/** The routes, and the upkeep behind them. What raises alerts is their reaction to events. */
export interface Alerts extends AlertUpkeep {
  readonly routes: ReturnType<typeof alertsRoutes>;
}

/** @param options.keepDays How long resolved alerts are kept. */
export function createAlerts(
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: Pick<EventLog, "append">;
    readonly published: (tenantId: string, fromSeq: number) => void; readonly audit: Audit; readonly clock: Clock; readonly logger: Log;
  },
  options: { readonly keepDays: number },
): Alerts {
  return { ...createAlertUpkeep(deps, options), routes: alertsRoutes(createAlertsService({ ...deps, store: createAlertsStore(deps) })) };
}
