import type { HEALTH_METRICS } from "@lanthorn/contract/uplink";

/** One of `HEALTH_METRICS`. */
export type HealthMetric = (typeof HEALTH_METRICS)[number];

/** What one metric is held against. */
export interface Limit {
  readonly metric: HealthMetric;
  /** Which side of `threshold` is bad. */
  readonly bad: "above" | "below";
  readonly threshold: number;
  /** The way back: it clears only this far on the good side, so that a value at the threshold does not flap. */
  readonly hysteresis: number;
}

/** Where a metric stands. */
export interface Standing {
  readonly raised: boolean;
  /** Reports in a row that say otherwise. */
  readonly streak: number;
}

/** Where each metric begins: no alert, no report that says otherwise. */
export const CALM: Standing = { raised: false, streak: 0 };

/**
 * Decides whether a report changes anything: `samples` in a row over the threshold raise the alert once, as many in a row
 * back below it by its hysteresis clear it. Between the two, what was last said stands.
 * @param value Null where the machine does not report one: no change.
 */
export function judgeLimit(
  standing: Standing, limit: Limit, value: number | null, samples: number,
): { readonly standing: Standing; readonly change: "raised" | "cleared" | null } {
  if (value === null) return { standing, change: null };
  const side = limit.bad === "above" ? 1 : -1;
  const over = (value - limit.threshold) * side > 0;
  const clear = (value - limit.threshold) * side <= -limit.hysteresis;
  const says = standing.raised ? clear : over;
  const streak = says ? standing.streak + 1 : 0;
  if (streak < samples) return { standing: { raised: standing.raised, streak }, change: null };
  const raised = !standing.raised;
  return { standing: { raised, streak: 0 }, change: raised ? "raised" : "cleared" };
}
