import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { LabelledReading } from "../../metrics/metrics.ts";
import { devicesByPresence } from "./store/count.ts";

/** What `/metrics` tells of this service, over all tenants. */
export function deviceMetrics(reads: Kysely<Schema>): readonly LabelledReading[] {
  return [{ name: "lanthorn_devices", help: "Devices by presence", label: "presence", read: () => devicesByPresence(reads) }];
}
