import * as z from "zod";
import { DNS_QUERY_ACTIONS, DNS_QUERY_LEVELS } from "../events/dns-queries.ts";
import { Id, Instant, IpAddress } from "../values.ts";
import { IdPageQuery, PeriodQuery } from "./envelopes.ts";

const Action = z.enum(DNS_QUERY_ACTIONS);
const times = z.int().describe("How often.");

/** Queries of one client that are alike, in one hour. */
export const DnsQueryRow = z.object({
  id: Id.describe("The row's id."),
  site_id: Id.describe("The site."),
  hour: Instant.describe("The hour, by its begin."),
  client_ip: IpAddress.describe("Who asked."),
  device_id: Id.nullable().describe("The device that had this address. Null where none is known."),
  name: z.string().describe("The name, in lower case."),
  type: z.string().describe("The record type, as `AAAA`."),
  action: Action.describe("`resolved`: the truth was answered. `blocked`: it was answered as a list says. `observed`: a list that is only observed would have blocked it."),
  list: z.string().describe("The list that decided, or would have. Empty for none."),
  times: z.int().describe("How often it was asked in that hour."),
  first_at: Instant.describe("When it was first asked in that hour, to some seconds."),
  last_at: Instant.describe("When it was last asked in that hour."),
});
export type DnsQueryRow = z.infer<typeof DnsQueryRow>;

const Site = { site_id: Id.optional().describe("Only this site.") };

/** The newest first. */
export const DnsQueriesQuery = IdPageQuery.extend(PeriodQuery.shape).extend({
  ...Site,
  device_id: Id.optional().describe("Only this device."),
  client_ip: IpAddress.optional().describe("Only this client."),
  name: z.string().trim().min(1).max(253).optional().describe("This name, and those below it."),
  action: Action.optional().describe("Only what became of it."),
});
export type DnsQueriesQuery = z.infer<typeof DnsQueriesQuery>;

/** The last 24 hours where no period is given; 7 days at most. */
export const DnsStatsQuery = PeriodQuery.extend({ ...Site, top: z.coerce.number().int().min(1).max(100).default(10).describe("How many of each, 1 to 100.") });
export type DnsStatsQuery = z.infer<typeof DnsStatsQuery>;

const Totals = {
  queries: z.int().describe("Queries that came."), from_cache: z.int().describe("Queries that were answered from the cache."), failed: z.int().describe("Queries that no server answered."),
  blocked: z.int().describe("Queries that were answered as a list says."), observed: z.int().describe("Queries that a list would have blocked, were it not only observed."),
};
const TopNames = z.array(z.object({ name: z.string().describe("The name."), times }));

/** What the resolvers of a tenant, or of a site, were asked. Names and clients are there as far as resolvers report them. */
export const DnsStats = z.object({
  from: Instant.describe("Begin of the first hour."), to: Instant.describe("End of the last hour."),
  ...Totals,
  left_out: z.int().describe("Queries that are in no row, because there were too many different ones."),
  levels: z.array(z.object({
    site_id: Id.describe("The site."), level: z.string().describe("How much its resolver reports: `counts`, `blocked` or `all`."), at: Instant.describe("When it reported last."),
  })).describe("What resolvers of sites report, by their own configuration (`[queries]` of `dns.toml`) or the site's setting (`/dns/queries/settings`), whichever is stricter."),
  hours: z.array(z.object({ hour: Instant.describe("The hour, by its begin."), ...Totals })).describe("Each hour in which something was asked."),
  top_names: TopNames.describe("Names that were asked for most."), top_blocked: TopNames.describe("Names that were blocked most."),
  top_clients: z.array(z.object({
    site_id: Id.describe("The site."), client_ip: IpAddress.describe("Who asked."), device_id: Id.nullable().describe("The device that had this address. Null where none is known."), times,
    blocked: z.int().describe("How often it was blocked."),
  })).describe("Clients that asked most."),
  lists: z.array(z.object({ list: z.string().describe("The list."), times })).describe("Lists that blocked most, or would have."),
  is_partial: z.boolean().describe("Whether there were too many rows to read them all: then names, clients and lists are of the newest."),
});
export type DnsStats = z.infer<typeof DnsStats>;

/** Days that queries can be kept. */
export const MAX_DNS_QUERY_DAYS = 366;

const SettingFields = {
  level: z.enum(DNS_QUERY_LEVELS).nullable().describe("How much of what clients ask the site's resolvers report at most: `off`, nothing; `counts`, how many; `blocked`, also who asked for which names that lists have; `all`, for any names. Null: what `dns.toml` on the "
    + "probe's machine says. Of both the stricter one holds."),
  keep_days: z.number().min(1).max(MAX_DNS_QUERY_DAYS).nullable().describe("For how many days it is kept what the site's clients asked. Null for the collector's own `keep_query_days`. Of both the shorter one holds."),
};

/** What a site's log of queries may have. */
export const DnsQuerySettings = z.object({
  site_id: Id.describe("The site."),
  ...SettingFields,
  changed_by: z.string().nullable().describe("Name of the user who changed it last. Null where it never was changed."),
  changed_at: Instant.nullable().describe("When it was changed last. Null likewise."),
});
export type DnsQuerySettings = z.infer<typeof DnsQuerySettings>;

/** Fields left out stay. */
export const DnsQuerySettingsUpdate = z.strictObject(z.object(SettingFields).partial().shape);
export type DnsQuerySettingsUpdate = z.infer<typeof DnsQuerySettingsUpdate>;
