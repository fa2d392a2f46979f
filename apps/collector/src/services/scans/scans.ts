import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Broker } from "../../broker/broker.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { ServiceModule } from "../../service-module.ts";
import { createScanDispatch, type ScanDispatch } from "./dispatch.ts";
import { scanReaction } from "./reaction.ts";
import { scansRoutes } from "./routes.ts";
import { createScansService } from "./service.ts";
import { createScansStore } from "./store.ts";

/** Scans, and what ingest reports of probes. */
export interface Scans extends ServiceModule, Pick<ScanDispatch, "replied" | "online" | "job"> {}

/** @param options.keepDays How long scans that have ended are kept. */
export function createScans(
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: Pick<EventLog, "append">;
    readonly published: (tenantId: string, fromSeq: number) => void;
    readonly broker: Pick<Broker, "publish" | "health">; readonly audit: Audit;
    readonly clock: Clock; readonly logger: Log;
  },
  options: { readonly keepDays: number },
): Scans {
  const dispatch = createScanDispatch(deps, options);
  const service = createScansService({
    store: createScansStore(deps), dispatch, brokerHealth: () => deps.broker.health(), audit: deps.audit, clock: deps.clock,
  });
  const { replied, online, job } = dispatch;
  return { name: "scans", mount: "gateway", routes: [scansRoutes(service)], reactions: { scans: scanReaction }, jobs: [job], replied, online, job };
}
