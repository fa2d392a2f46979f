import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { LabelledReading } from "../../metrics/metrics.ts";
import { waitingDeliveries } from "./count-store.ts";

/** What `/metrics` tells of this service, over all tenants. */
export function deliveryMetrics(reads: Kysely<Schema>): readonly LabelledReading[] {
  return [{ name: "lanthorn_webhook_deliveries_waiting", help: "Deliveries that are not done, by lane", label: "lane", read: () => waitingDeliveries(reads) }];
}
