import * as z from "zod";
import { Instant, IpAddress } from "../values.ts";

/** How much of what clients ask a resolver reports: nothing; how many; also who asked for which listed names; also for which others. */
export const DNS_QUERY_LEVELS = ["off", "counts", "blocked", "all"] as const;
/** One of `DNS_QUERY_LEVELS`. */
export type DnsQueryLevel = (typeof DNS_QUERY_LEVELS)[number];

/** Of two levels the stricter one: the one with which less is reported. Null is no wish, and the other one holds. */
export function stricterDnsQueryLevel(level: DnsQueryLevel, other: DnsQueryLevel | null): DnsQueryLevel {
  return other !== null && DNS_QUERY_LEVELS.indexOf(other) < DNS_QUERY_LEVELS.indexOf(level) ? other : level;
}

/** What became of a query: `observed`, a list that is only observed would have blocked it. */
export const DNS_QUERY_ACTIONS = ["resolved", "blocked", "observed"] as const;
/** One of `DNS_QUERY_ACTIONS`. */
export type DnsQueryAction = (typeof DNS_QUERY_ACTIONS)[number];

/** Rows of one event. */
export const MAX_DNS_QUERY_ROWS = 200;

const Count = z.int().min(0).max(1_000_000_000_000);

/** What a site's resolver was asked in some seconds; the next one follows it without a gap, as far as it was up. */
export const DnsQueries = z.object({
  from: Instant,
  to: Instant,
  level: z.enum(DNS_QUERY_LEVELS),
  queries: Count,
  from_cache: Count,
  failed: Count,
  blocked: Count,
  observed: Count,
  /** Queries that should be in `rows` and are not: there were too many different ones. */
  left_out: Count,
  /** Queries that are alike. */
  rows: z.array(z.object({
    client_ip: IpAddress,
    name: z.string().max(255),
    type: z.string().max(16),
    action: z.enum(DNS_QUERY_ACTIONS),
    /** That decided, or would have; empty for none. */
    list: z.string().max(128),
    times: z.int().min(1).max(1_000_000_000),
    last_at: Instant,
  })).max(MAX_DNS_QUERY_ROWS),
});
export type DnsQueries = z.infer<typeof DnsQueries>;
