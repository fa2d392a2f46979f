import { type DnsQueriesQuery, type DnsQueryRow, type DnsStats, type DnsStatsQuery, type List, momentToInstant } from "@lanthorn/contract";
import { type Clock, nextTurn, toInstant } from "@lanthorn/runtime";
import { notFound } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { hourOf } from "./reaction.ts";
import type { HourRow, QueriesStore, QueryFilter, QueryRow } from "./store.ts";

/** What resolvers were asked. */
export interface QueriesService {
  /** Newest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: DnsQueriesQuery): Promise<List<DnsQueryRow>>;
  /** @throws ApiError NOT_FOUND likewise; BAD_REQUEST for a period that is too long or ends before it begins. */
  stats(tenantId: string, query: DnsStatsQuery): Promise<DnsStats>;
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const MAX_DAYS = 7;
/** Read between two turns of the event loop. */
const PAGE = 500;
const MAX_READ = 200_000;

/** @param deps.store See `createQueriesStore`. */
export function createQueriesService({ store, clock }: { readonly store: QueriesStore; readonly clock: Pick<Clock, "now"> }): QueriesService {
  const requireSite = async (tenantId: string, siteId: string | undefined) => {
    if (siteId !== undefined && !(await store.siteExists(tenantId, siteId))) throw notFound("site");
  };
  const instantOf = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
  return {
    async list(tenantId, query) {
      await requireSite(tenantId, query.site_id);
      const filter: QueryFilter = {
        siteId: query.site_id, deviceId: query.device_id, clientIp: query.client_ip, name: query.name?.toLowerCase().replace(/\.$/, ""), action: query.action,
        ...(query.since !== undefined && { since: instantOf(query.since) ?? "" }), ...(query.until !== undefined && { until: instantOf(query.until) ?? "" }),
      };
      return pageById(query, { read: (rows) => store.list(tenantId, filter, rows), count: () => store.count(tenantId, filter), show: toQueryRow });
    },

    async stats(tenantId, { site_id: siteId, since, until, top }) {
      await requireSite(tenantId, siteId);
      const untilMs = Date.parse(instantOf(until) ?? toInstant(clock.now()));
      const sinceMs = since === undefined ? untilMs - DAY_MS : Date.parse(instantOf(since) ?? "");
      if (sinceMs >= untilMs) throw badRequest([{ path: ["since"], message: "must be before until" }]);
      if (untilMs - sinceMs > MAX_DAYS * DAY_MS) throw badRequest([{ path: ["since"], message: `at most ${MAX_DAYS} days before until` }]);
      const period = { since: hourOf(toInstant(sinceMs)), until: hourOf(toInstant(untilMs + HOUR_MS - 1)) };
      const hours = await store.hours(tenantId, siteId, period);
      const tops = createTops();
      let read = 0;
      for (const { site_id: site, hour } of hours.toReversed()) {
        for (let after = ""; read < MAX_READ;) {
          const rows = await store.ofHour(site, hour, { after, limit: PAGE });
          for (const row of rows) tops.add(row);
          read += rows.length;
          await nextTurn();
          if (rows.length < PAGE) break;
          after = rows.at(-1)?.id ?? "";
        }
      }
      return { from: period.since, to: period.until, ...sumOf(hours), levels: levelsOf(hours), hours: byHour(hours), ...tops.most(top), is_partial: read >= MAX_READ };
    },
  };
}

function toQueryRow({ id, site_id, hour, client_ip, device_id, name, type, action, list, times, first_at, last_at }: QueryRow): DnsQueryRow {
  return { id, site_id, hour, client_ip, device_id, name, type, action: action as DnsQueryRow["action"], list, times, first_at, last_at };
}

const COUNTS = ["queries", "from_cache", "failed", "blocked", "observed"] as const;

function sumOf(rows: readonly HourRow[]): Pick<DnsStats, (typeof COUNTS)[number] | "left_out"> {
  const sum = { queries: 0, from_cache: 0, failed: 0, blocked: 0, observed: 0, left_out: 0 };
  for (const row of rows) for (const count of [...COUNTS, "left_out"] as const) sum[count] += row[count];
  return sum;
}

function byHour(rows: readonly HourRow[]): DnsStats["hours"] {
  const groups = new Map<string, HourRow[]>();
  for (const row of rows) groups.set(row.hour, [...groups.get(row.hour) ?? [], row]);
  return [...groups].map(([hour, group]) => {
    const { left_out: _, ...counts } = sumOf(group);
    return { hour, ...counts };
  });
}

/** Of each site, what its newest hour says. */
function levelsOf(rows: readonly HourRow[]): DnsStats["levels"] {
  return [...new Map(rows.map((row) => [row.site_id, { site_id: row.site_id, level: row.level, at: row.reported_at }])).values()];
}

/** Counts rows by what they are about. */
function createTops() {
  const [names, blocked, lists] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const clients = new Map<string, DnsStats["top_clients"][number]>();
  const count = (counts: Map<string, number>, key: string, times: number) => counts.set(key, (counts.get(key) ?? 0) + times);
  const most = <T extends { readonly times: number }>(all: readonly T[], top: number) => all.toSorted((a, b) => b.times - a.times).slice(0, top);
  return {
    add({ site_id, client_ip, device_id, name, action, list, times }: QueryRow) {
      count(names, name, times);
      if (action === "blocked") count(blocked, name, times);
      if (list !== "") count(lists, list, times);
      const client = clients.get(`${site_id} ${client_ip}`) ?? { site_id, client_ip, device_id, times: 0, blocked: 0 };
      client.times += times;
      if (action === "blocked") client.blocked += times;
      clients.set(`${site_id} ${client_ip}`, client);
    },
    most(top: number): Pick<DnsStats, "top_names" | "top_blocked" | "top_clients" | "lists"> {
      const named = (counts: ReadonlyMap<string, number>) => most([...counts].map(([name, times]) => ({ name, times })), top);
      return { top_names: named(names), top_blocked: named(blocked), top_clients: most([...clients.values()], top), lists: named(lists).map(({ name, times }) => ({ list: name, times })) };
    },
  };
}
