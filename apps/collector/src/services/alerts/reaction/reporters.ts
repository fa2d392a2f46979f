import type { Finding } from "./rules.ts";

/** How often a probe has seen a cause since that began, as the probe counts and dates it. */
type Report = NonNullable<Finding["seen"]>;

/** The probes that report the cause of an alert now, by their ids. Only events that say when their cause is gone are noted here. */
export type Reporters = Map<string, Report>;

/** Of a site's probes; who comes after these is counted, and cannot keep the alert open. */
const MAX_REPORTERS = 64;

/** @param text As `alerts.reporters` has it. */
export function readReporters(text: string): Reporters {
  return new Map(Object.entries(JSON.parse(text) as Readonly<Record<string, Report>>));
}

/** As `alerts.reporters` takes it. */
export function writeReporters(reporters: Reporters): string {
  return JSON.stringify(Object.fromEntries(reporters));
}

/**
 * Notes what a probe reports. Each probe counts for itself, and from the beginning.
 * @returns How often the cause was seen that is not counted yet; one where the event does not count.
 */
export function noteReport(reporters: Reporters, probeId: string | null, seen: Finding["seen"]): number {
  if (!seen) return 1;
  const key = probeId ?? "";
  const before = reporters.get(key);
  const counted = before?.since === seen.since ? before.times : 0;
  if (before || reporters.size < MAX_REPORTERS) reporters.set(key, { since: seen.since, times: Math.max(counted, seen.times) });
  return Math.max(0, seen.times - counted);
}

/**
 * A probe does not report the cause any more. What another one reports goes on: neither a probe that was moved nor one that lies ends it.
 * @returns Whether no probe does.
 */
export function endReport(reporters: Reporters, probeId: string | null): boolean {
  reporters.delete(probeId ?? "");
  return reporters.size === 0;
}
