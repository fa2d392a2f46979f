/** Days of a device in milliseconds, for tests. */
import type { Anomaly } from "../anomaly.ts";
import type { ObservedFlow } from "../flow.ts";
import { type BehaviourWatch, createBehaviourWatch } from "../watch.ts";

export const HOUR = 3600;
export const DAY = 24 * HOUR;
/** A Monday, 00:00 UTC. */
export const BEGIN = 1_767_571_200;
export const BOUNDS = { maxDevices: 20, maxPairs: 100, alertsADay: 1 };

export function open(options: Partial<Parameters<typeof createBehaviourWatch>[0]> = {}): { readonly anomalies: Anomaly[]; readonly watch: BehaviourWatch } {
  const anomalies: Anomaly[] = [];
  return { anomalies, watch: createBehaviourWatch({ bounds: BOUNDS, onAnomaly: (anomaly) => anomalies.push(anomaly), ...options }) };
}

export function flow(at: number, more: Partial<ObservedFlow> = {}): ObservedFlow {
  return {
    at, startedAt: at, originator: "laptop", responder: "203.0.113.7", isOriginatorInside: true, isResponderInside: false, port: "tcp/443", bytesOut: 3000, bytesIn: 20_000, packets: 20,
    hasFailed: false, region: "DE", isFirstPart: true, ...more,
  };
}

/** Compares what is left of an hour. @returns In how many pieces. */
export function finish(watch: BehaviourWatch): number {
  let pieces = 1;
  while (watch.work()) pieces += 1;
  return pieces;
}

/** Twelve ordinary flows an hour of each device, at work by day only. */
export function live(watch: BehaviourWatch, days: { readonly from: number; readonly to: number }, originators: readonly string[] = ["laptop"]): void {
  for (let at = BEGIN + days.from * DAY; at < BEGIN + days.to * DAY; at += HOUR / 12) {
    const isDay = at % DAY >= 8 * HOUR && at % DAY < 17 * HOUR;
    if (isDay || at % HOUR === 0) for (const originator of originators) watch.flow(flow(at, { originator, responder: `203.0.113.${(at / 300) % 7}` }));
    else watch.advance(at);
  }
  finish(watch);
}

/** From 10:00 of a day on. */
export function copyOut(watch: BehaviourWatch, day: number, originator = "laptop"): void {
  const at = BEGIN + day * DAY + 10 * HOUR;
  watch.flow(flow(at + 60, { originator, responder: "198.51.100.9", bytesOut: 8e9 }));
  for (let minutes = 5; minutes <= 60; minutes += 5) watch.advance(at + minutes * 60);
  finish(watch);
}
