import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { alertTimes } from "./store.ts";
import type { Finding } from "./finding.ts";
import type { Verdict } from "./verdicts.ts";

/** More new alerts of one type at one site within this time become one summary: nobody reads the twenty-first. */
const MAX_ALERTS = 20;
const WINDOW_MS = 10 * 60_000;
/** Of a backlog, the newest count; what is older pages nobody. */
const MAX_READ = 5000;

/** The summary's own type; its subject is the type of which there were too many. */
export const STORM_TYPE = "alert_storm";

/** Knows how many alerts of a type began at a site lately. */
export interface StormCap {
  isReached(verdict: Verdict, type: string): boolean;
  note(verdict: Verdict, type: string): void;
}

/** Alerts of a type at a site: when their causes were first seen, and when the first live event of each was received. */
interface Begun {
  readonly seen: string[];
  readonly live: string[];
}

/**
 * Counts by when things were seen, so that a backlog is held to the same measure as live events; and live ones also by when they were
 * received, whatever the probe says of when it saw them.
 * @param fresh Verdicts that begin an alert, or are its first live word.
 */
export async function loadStormCap(trx: Transaction<Schema>, tenantId: string, fresh: readonly Verdict[]): Promise<StormCap> {
  const begun = new Map<string, Begun>();
  const of = (siteId: string | null, type: string): Begun => {
    const key = `${siteId ?? "-"} ${type}`;
    const known = begun.get(key) ?? { seen: [], live: [] };
    begun.set(key, known);
    return known;
  };
  const capped = fresh.filter(({ finding }) => finding?.isCapped);
  if (capped.length > 0) {
    const types = [...new Set(capped.map(({ finding }) => finding?.type ?? ""))];
    const read = (column: "first_seen" | "live_at", times: readonly string[]) => alertTimes(trx, tenantId, {
      column, types, after: before(times[0] ?? ""), until: times.at(-1) ?? "", limit: MAX_READ,
    });
    for (const { siteId, type, at } of await read("first_seen", capped.map(({ at: seenAt }) => seenAt).toSorted())) {
      of(siteId, type).seen.push(at);
    }
    for (const { siteId, type, at } of await read("live_at", capped.map(({ event }) => event.received_at).toSorted())) {
      of(siteId, type).live.push(at);
    }
  }
  return {
    note({ event, at }, type) {
      const known = of(event.site_id, type);
      known.seen.push(at);
      if (!event.isLate) known.live.push(event.received_at);
    },
    isReached({ event, at }, type) {
      const { seen, live } = of(event.site_id, type);
      return countIn(seen, at) >= MAX_ALERTS || (!event.isLate && countIn(live, event.received_at) >= MAX_ALERTS);
    },
  };
}

/** What is raised in place of an alert that would be one too many. It ends when none was left out for as long as is counted over. */
export function summaryOf(finding: Finding): Finding {
  return {
    type: STORM_TYPE, subject: finding.type, source: finding.source, severity: finding.severity,
    title: `More than ${MAX_ALERTS} new alerts of the type ${finding.type} within ${WINDOW_MS / 60_000} minutes`,
    description: "Further ones are only counted here. Each of their events is in the event log.", quietMs: WINDOW_MS, isCapped: false,
  };
}

function countIn(times: readonly string[], until: string): number {
  const from = before(until);
  return times.filter((time) => time > from && time <= until).length;
}

function before(at: string): string {
  return new Date(Date.parse(at) - WINDOW_MS).toISOString();
}
