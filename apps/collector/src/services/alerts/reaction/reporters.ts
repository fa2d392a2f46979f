import type { Finding } from "./finding.ts";

/** How often a probe has seen a cause since that began, as the probe counts and dates it. */
type Report = NonNullable<Finding["seen"]>;

/** The probes that report the cause of an alert now, by their ids. Only events that say when their cause is gone are noted here. */
export type Reporters = Map<string, Report>;

/** Of a site's probes; each report of who comes after these counts once, and does not keep the alert open. */
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
  if (!before && reporters.size >= MAX_REPORTERS) return 1;
  const counted = before?.since === seen.since ? before.times : 0;
  reporters.set(key, { since: seen.since, times: Math.max(counted, seen.times) });
  return Math.max(0, seen.times - counted);
}

/** Whether the end that a probe reports counts: it is among those that report the cause, or none is noted, as in alerts of older versions. */
export function mayEnd(reporters: Reporters, probeId: string | null): boolean {
  return reporters.size === 0 || reporters.has(probeId ?? "");
}

/**
 * A probe does not report the cause any more. What another one reports goes on while that one is there to report its end.
 * @param isThere Whether a probe is online.
 * @returns Whether the cause is gone.
 */
export function endReport(reporters: Reporters, probeId: string | null, isThere: (probeId: string) => boolean): boolean {
  reporters.delete(probeId ?? "");
  return ![...reporters.keys()].some(isThere);
}
