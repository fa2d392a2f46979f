import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { countOpen } from "./store.ts";
import type { Finding } from "./finding.ts";
import type { Verdict } from "./verdicts.ts";

/** The summary's own type; its subject is the type of which too many are open. */
export const LIMIT_TYPE = "alert_limit";

/** As long as there was no more than may be open. */
const QUIET_MS = 24 * 3_600_000;

/** Knows how many alerts of a type are open at a site. What the collector finds by itself is not counted: its causes are bounded. */
export interface OpenLimit {
  isReached(verdict: Verdict, type: string): boolean;
  note(verdict: Verdict, type: string): void;
}

/**
 * @param fresh Verdicts that begin an alert.
 * @param most Of a type at a site.
 */
export async function loadOpenLimit(trx: Transaction<Schema>, fresh: readonly Verdict[], most: number): Promise<OpenLimit> {
  const open = new Map<string, number>();
  const wanted = new Map(fresh.flatMap((verdict) => {
    const { event: { site_id: siteId, queue_id: queueId }, finding } = verdict;
    return siteId === null || queueId === null || !finding ? [] : [[keyOf(verdict, finding.type), { siteId, type: finding.type }] as const];
  }));
  for (const [key, { siteId, type }] of wanted) {
    open.set(key, await countOpen(trx, siteId, type));
  }
  return {
    isReached: (verdict, type) => (open.get(keyOf(verdict, type)) ?? 0) >= most,
    note(verdict, type) {
      const key = keyOf(verdict, type);
      const count = open.get(key);
      if (count !== undefined) open.set(key, count + 1);
    },
  };
}

/** What is raised in place of an alert that would be one too many. */
export function limitOf(finding: Finding, most: number): Finding {
  return {
    type: LIMIT_TYPE, subject: finding.type, source: finding.source, severity: finding.severity,
    title: `${most} alerts of the type ${finding.type} are open at this site`,
    description: "Further ones are only counted here until some are resolved. Each of their events is in the event log.", quietMs: QUIET_MS,
    isCapped: false,
  };
}

function keyOf({ event }: Verdict, type: string): string {
  return `${event.site_id ?? "-"} ${type}`;
}
