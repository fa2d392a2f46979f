/** Counts what clients ask, as far as that may be reported, until the daemon has written it down. */
import { type DnsQueryAction, type DnsQueryLevel, stricterDnsQueryLevel } from "@lanthorn/contract/uplink";
import type { DnsQuery, Verdict } from "@lanthorn/dns";
import type { ResolverCounts } from "../resolver.ts";
import { MAX_QUERY_ROWS, type ReportedQueries } from "./messages.ts";
import { OWN_ADDRESSES } from "./threat-tally.ts";

/** The queries that wait. */
export interface QueryTally {
  /** A query was answered. @param verdict Null where nothing is filtered. @param address Of the client. */
  answered(query: Pick<DnsQuery, "name" | "type" | "atMs">, verdict: Verdict | null, address: string): void;
  /** Sends what waits, unless some is on its way. @param atMs Milliseconds since the epoch. @param send Whether it went out. */
  flush(atMs: number, send: (number: number, queries: ReportedQueries) => boolean): void;
  taken(number: number): void;
  /** The other side is gone: what it did not take is sent again. */
  lost(): void;
  readonly size: number;
}

/** Different queries at once: some hundred bytes each. */
const MAX_WAITING = 2000;
const MAX_NAME = 255;
const MAX_TIMES = 1_000_000_000;

type Totals = Pick<ReportedQueries, "queries" | "from_cache" | "failed" | "blocked" | "observed">;
type Row = ReportedQueries["rows"][number];

/**
 * @param levelNow How much may be reported at this moment. With `off` nothing is sent, and what was asked meanwhile never is; what waits when the level falls goes only as far as the new one allows.
 * @param counts What the resolver has done since it began.
 */
export function createQueryTally(levelNow: () => DnsQueryLevel, counts: Readonly<ResolverCounts>, startMs: number): QueryTally {
  const waiting = new Map<string, Row>();
  let [leftOut, lastNumber, fromMs] = [0, 0, startMs];
  let before = totalsOf(counts);
  let onWay: { readonly number: number; readonly queries: ReportedQueries } | null = null;
  let isSent = false;
  return {
    get size() {
      return waiting.size;
    },
    answered({ name, type, atMs }, verdict, address) {
      const action = actionOf(verdict);
      if (!allows(levelNow(), action) || OWN_ADDRESSES.has(address)) return;
      const list = (verdict?.action === "allow" ? verdict.observed : verdict?.rule)?.listName.slice(0, 128) ?? "";
      // Of a link-local address, without the interface.
      const row = { client_ip: address.split("%", 1)[0] as string, name: name.toLowerCase().slice(0, MAX_NAME), type, action, list: action === "resolved" ? "" : list };
      const key = JSON.stringify(Object.values(row));
      const known = waiting.get(key);
      if (known) {
        known.times = Math.min(MAX_TIMES, known.times + 1);
        known.last_at = atMs;
      } else if (waiting.size < MAX_WAITING) waiting.set(key, { ...row, times: 1, last_at: atMs });
      else leftOut += 1;
    },
    flush(atMs, send) {
      const level = levelNow();
      const now = totalsOf(counts);
      for (const [key, { action }] of waiting) if (!allows(level, action)) waiting.delete(key);
      if (level === "off") {
        [onWay, before, fromMs, leftOut] = [null, now, Math.max(fromMs, atMs), 0];
        return;
      }
      if (onWay) onWay = { number: onWay.number, queries: limitedTo(level, onWay.queries) };
      else {
        if (level === "counts") leftOut = 0;
        const rows = [...waiting].slice(0, MAX_QUERY_ROWS);
        if (rows.length === 0 && now.queries === before.queries) return;
        for (const [key] of rows) waiting.delete(key);
        lastNumber += 1;
        onWay = { number: lastNumber, queries: { from: fromMs, to: Math.max(fromMs, atMs), level, ...differenceOf(now, before), left_out: leftOut, rows: rows.map(([, row]) => row) } };
        [before, fromMs, leftOut, isSent] = [now, Math.max(fromMs, atMs), 0, false];
      }
      if (!isSent) isSent = send(onWay.number, onWay.queries);
    },
    taken(number) {
      if (onWay?.number === number) onWay = null;
    },
    lost() {
      isSent = false;
    },
  };
}

/** Whether it may be said who asked for a name. */
function allows(level: DnsQueryLevel, action: DnsQueryAction): boolean {
  return level === "all" || (level === "blocked" && action !== "resolved");
}

/** What was to be sent under another level. */
function limitedTo(level: DnsQueryLevel, queries: ReportedQueries): ReportedQueries {
  const stricter = stricterDnsQueryLevel(queries.level, level);
  return stricter === queries.level ? queries : { ...queries, level: stricter, left_out: stricter === "blocked" ? queries.left_out : 0, rows: queries.rows.filter(({ action }) => allows(stricter, action)) };
}

function actionOf(verdict: Verdict | null): DnsQueryAction {
  if (verdict === null) return "resolved";
  return verdict.action === "allow" ? (verdict.observed === null ? "resolved" : "observed") : "blocked";
}

function totalsOf({ queries, fromCache, failed, blocked, observed }: Readonly<ResolverCounts>): Totals {
  return { queries, from_cache: fromCache, failed, blocked, observed };
}

function differenceOf(now: Totals, before: Totals): Totals {
  return {
    queries: now.queries - before.queries, from_cache: now.from_cache - before.from_cache, failed: now.failed - before.failed, blocked: now.blocked - before.blocked, observed: now.observed - before.observed,
  };
}
