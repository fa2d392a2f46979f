import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { LabelledReading } from "../../metrics/metrics.ts";
import { probesByState } from "./count-store.ts";

/** What `/metrics` tells of this service, over all tenants. */
export function agentMetrics(reads: Kysely<Schema>): readonly LabelledReading[] {
  return [{ name: "lanthorn_probes", help: "Probes by state", label: "state", read: () => probesByState(reads) }];
}
