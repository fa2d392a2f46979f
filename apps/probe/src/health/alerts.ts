import { HEALTH_METRICS } from "@lanthorn/contract/uplink";
import type { Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import { createPublisher, type EventSink } from "../queue/publisher.ts";
import { CALM, type HealthMetric, judgeLimit, type Limit, type Standing } from "./limits.ts";
import { type HealthValues, toHealthAlert } from "./metrics.ts";

/** Raises an alert when a limit is passed, and clears it when it holds again. What was raised is remembered over a restart, so that it can be cleared. */
export interface HealthAlerts {
  judge(values: HealthValues, occurredAt: string): void;
  raised(): readonly HealthMetric[];
}

const SCHEMA = "CREATE TABLE IF NOT EXISTS health_raised (metric TEXT PRIMARY KEY) STRICT";

/** @throws SqliteError when the table cannot be made. */
export function createHealthAlerts(deps: {
  readonly db: Database.Database;
  readonly outbox: EventSink;
  readonly log: Log;
  readonly limits: readonly Limit[];
  /** Reports in a row that it takes. */
  readonly samples: number;
}): HealthAlerts {
  const { db } = deps;
  db.exec(SCHEMA);
  const publisher = createPublisher({ ...deps, what: "health alerts" });
  const remember = db.prepare<[string]>("INSERT OR IGNORE INTO health_raised VALUES (?)");
  const forget = db.prepare<[string]>("DELETE FROM health_raised WHERE metric = ?");
  const kept = new Set(db.prepare<[], { readonly metric: string }>("SELECT metric FROM health_raised").all().map((row) => row.metric));
  const standings = new Map<HealthMetric, Standing>(
    HEALTH_METRICS.map((metric) => [metric, kept.has(metric) ? { raised: true, streak: 0 } : CALM]),
  );

  /** The event is appended in any case; that it was is remembered with it when the disk takes both. */
  function publish(limit: Limit, change: "raised" | "cleared", value: number, occurredAt: string): void {
    publisher.publishAnyway([{ type: "probe_health_alert", occurred_at: occurredAt, data: toHealthAlert(limit, change, value) }], () =>
      (change === "raised" ? remember : forget).run(limit.metric));
  }

  return {
    judge(values, occurredAt) {
      for (const limit of deps.limits) {
        const value = values[limit.metric];
        const { standing, change } = judgeLimit(standings.get(limit.metric) ?? CALM, limit, value, deps.samples);
        standings.set(limit.metric, standing);
        if (change !== null && value !== null) publish(limit, change, value, occurredAt);
      }
    },
    raised: () => HEALTH_METRICS.filter((metric) => standings.get(metric)?.raised === true),
  };
}
