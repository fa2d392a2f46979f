import type { Clock } from "@lanthorn/runtime";
import type { LabelledReading } from "../../metrics/metrics.ts";
import { ageOf } from "./health.ts";
import type { FeedRow, FeedsStore } from "./store.ts";

/** Numbers of `/metrics` about downloaded data, by feed. */
export function feedMetrics({ store, clock }: { readonly store: Pick<FeedsStore, "list">; readonly clock: Pick<Clock, "now"> }): readonly LabelledReading[] {
  const reading = (name: string, help: string, read: (row: FeedRow) => number | null): LabelledReading => ({
    name, help, label: "feed",
    async read() {
      const values = (await store.list()).map((row) => [row.name, read(row)] as const);
      return Object.fromEntries(values.flatMap(([feed, value]) => (value === null ? [] : [[feed, value]])));
    },
  });
  return [
    reading("lanthorn_feed_age_seconds", "Since a feed's source last answered well", (row) => Math.round(ageOf(row, clock.now()) / 1000)),
    reading("lanthorn_feed_records", "Records of a feed's last good whole download", (row) => row.records),
    reading("lanthorn_feed_configured_ratio", "Share of a feed's records that say where they apply", (row) => row.configured_share),
    reading("lanthorn_feed_failures", "Updates of a feed that failed in a row", (row) => row.failures),
    reading("lanthorn_feed_pending", "Whether a feed's files wait for their import", (row) => row.is_pending),
  ];
}
