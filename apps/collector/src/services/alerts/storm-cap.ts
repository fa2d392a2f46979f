import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Finding } from "./rules.ts";
import type { Verdict } from "./verdicts.ts";

/** More new alerts of one type at one site within this time become one summary: nobody reads the twenty-first. */
const MOST_ALERTS = 20;
const WINDOW_MS = 10 * 60_000;

/** The summary's own type; its subject is the type of which there were too many. */
export const STORM_TYPE = "alert_storm";

/** Knows how many alerts of a type began at a site lately. */
export interface StormCap {
  isReached(about: Begun): boolean;
  note(about: Begun): void;
}

interface Begun {
  readonly siteId: string | null;
  readonly type: string;
  readonly at: string;
}

/** Counts by when things occurred, so that a backlog is held to the same measure as live events. */
export async function loadStormCap(trx: Transaction<Schema>, tenantId: string, fresh: readonly Verdict[]): Promise<StormCap> {
  const begun = new Map<string, string[]>();
  const note = ({ siteId, type, at }: Begun) => {
    const key = `${siteId ?? "-"} ${type}`;
    const times = begun.get(key);
    if (times) times.push(at);
    else begun.set(key, [at]);
  };
  const capped = fresh.filter(({ finding }) => finding?.isCapped);
  if (capped.length > 0) {
    const times = capped.map(({ at }) => at).toSorted();
    const rows = await trx.selectFrom("alerts").select(["site_id", "type", "first_seen"]).where("tenant_id", "=", tenantId)
      .where("type", "in", [...new Set(capped.map(({ finding }) => finding?.type ?? ""))])
      .where("first_seen", ">", before(times[0] ?? "")).where("first_seen", "<=", times.at(-1) ?? "").execute();
    for (const row of rows) note({ siteId: row.site_id, type: row.type, at: row.first_seen });
  }
  return {
    note,
    isReached({ siteId, type, at }) {
      const from = before(at);
      return (begun.get(`${siteId ?? "-"} ${type}`) ?? []).filter((time) => time > from && time <= at).length >= MOST_ALERTS;
    },
  };
}

/** What is raised in place of an alert that would be one too many. It ends when none was left out for as long as is counted over. */
export function summaryOf(finding: Finding): Finding {
  return {
    type: STORM_TYPE, subject: finding.type, source: finding.source, severity: finding.severity,
    title: `More than ${MOST_ALERTS} new alerts of the type ${finding.type} within ${WINDOW_MS / 60_000} minutes`,
    description: "Further ones are counted here. Each event behind them is in the event log.", quietMs: WINDOW_MS, isCapped: false,
  };
}

function before(at: string): string {
  return new Date(Date.parse(at) - WINDOW_MS).toISOString();
}
