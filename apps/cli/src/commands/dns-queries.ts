import { type DnsQuerySettings, type DnsStats, MAX_DNS_QUERY_DAYS } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { parseCount } from "../options/row-count.ts";
import { shortTime } from "../short-time.ts";
import { oneSite, siteFilter } from "../site-id.ts";
import { plainText } from "./ids.ts";

type Rest = Pick<Connection, "rest">;

/** Which queries. */
export interface DnsQueriesOptions {
  readonly site?: string;
  readonly device?: string;
  readonly client?: string;
  readonly name?: string;
  readonly action?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
}

/** What clients asked, the newest first. @throws CliError `not-found`; `bad-option`. */
export async function listDnsQueries({ rest }: Rest, { site, device, client, name, action, since, until, limit }: DnsQueriesOptions): Promise<Answer> {
  const { data, meta } = await rest.listDnsQueries({
    ...await siteFilter(rest, site), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }), ...(client !== undefined && { client_ip: client }), ...(name !== undefined && { name }),
    ...(action !== undefined && { action }), ...(since !== undefined && { since }), ...(until !== undefined && { until }), per_page: parseCount(limit, 1000),
  });
  const rows = data.map((row) => [shortTime(row.last_at), row.client_ip, plainText(row.name), row.type, row.action, plainText(row.list), String(row.times)]);
  const none = "nothing is kept that matches. Resolvers report who asked for which names only where dns.toml says so: report = \"blocked\" or \"all\" in [queries], and the site's setting does not say less (lanthorn dns queries settings). For numbers: lanthorn dns stats";
  if (data.length === 0) return { json: data, text: none };
  return { json: data, table: { heading: ["LAST", "CLIENT", "NAME", "TYPE", "ACTION", "LIST", "TIMES"], rows }, notes: meta.total > data.length ? [`${data.length} of ${meta.total}: narrow it down, or raise --limit`] : [] };
}

/** What of the file or the collector itself counts where a site decides nothing. */
export const NO_WISH = "own";

/** How much of what clients ask is reported and kept, by site. */
export async function listQuerySettings({ rest }: Rest): Promise<Answer> {
  const [all, sites] = [await collect((query) => rest.listDnsQuerySettings(query)), await collect((query) => rest.listSites(query))];
  const names = new Map(sites.map(({ id, name }) => [id, name]));
  const rows = all.map((one) => [plainText(names.get(one.site_id) ?? one.site_id), one.level ?? NO_WISH, String(one.keep_days ?? NO_WISH), plainText(one.changed_by ?? ""), one.changed_at === null ? "" : shortTime(one.changed_at)]);
  return { json: all, table: { heading: ["SITE", "LEVEL", "DAYS", "CHANGED BY", "AT"], rows }, notes: [`${NO_WISH}: as dns.toml on the probe's machine says, and keep_query_days of the collector; of both, the stricter one holds`] };
}

/** Decides how much of it is reported and kept at a site. @throws CliError `not-found`; `bad-option`. */
export async function setQuerySettings({ rest }: Rest, { site, level, keepDays }: { readonly site?: string; readonly level?: string; readonly keepDays?: string }): Promise<Answer> {
  if (level === undefined && keepDays === undefined) throw new CliError("bad-option", "--level or --keep-days is needed");
  const set = await rest.updateDnsQuerySettings(await oneSite(rest, site), {
    ...(level !== undefined && { level: level === NO_WISH ? null : level as DnsQuerySettings["level"] }), ...(keepDays !== undefined && { keep_days: keepDays === NO_WISH ? null : daysOf(keepDays) }),
  });
  const reported = set.level === null ? "as dns.toml on the probe's machine says" : `at most ${set.level}, and less where dns.toml says so`;
  return { json: set, text: `reported: ${reported}; kept: ${set.keep_days === null ? "as long as the collector keeps it" : `${set.keep_days} days at most`}` };
}

function daysOf(text: string): number {
  const days = Number(text);
  if (!(days >= 1 && days <= MAX_DNS_QUERY_DAYS)) throw new CliError("bad-option", `--keep-days: a number of days from 1 to ${MAX_DNS_QUERY_DAYS}, or ${NO_WISH}`);
  return days;
}

/** How much was asked. @throws CliError `not-found`; `bad-option`. */
export async function showDnsStats({ rest }: Rest, { site, since, top }: { readonly site?: string; readonly since?: string; readonly top: string }): Promise<Answer> {
  const stats = await rest.readDnsStats({ ...await siteFilter(rest, site), ...(since !== undefined && { since }), top: parseCount(top, 100, "--top") });
  return { json: stats, text: linesOf(stats).join("\n") };
}

function linesOf(stats: DnsStats): readonly string[] {
  const { queries, from_cache: cached, blocked, observed, failed, left_out: leftOut } = stats;
  const share = (part: number) => `${part} (${queries === 0 ? 0 : Math.round((100 * part) / queries)} %)`;
  const most = (title: string, rows: readonly (readonly [string, number])[]) => (rows.length === 0 ? [] : ["", `${title}:`, ...rows.map(([what, times]) => `  ${String(times).padStart(9)}  ${plainText(what)}`)]);
  if (stats.levels.length === 0) return [`no resolver has reported anything since ${shortTime(stats.from)}`];
  return [
    `${shortTime(stats.from)} to ${shortTime(stats.to)}: ${queries} queries`, `  blocked     ${share(blocked)}`, `  observed    ${share(observed)}`, `  from cache  ${share(cached)}`, `  failed      ${share(failed)}`,
    ...(leftOut > 0 ? [`  left out    ${leftOut}: too many different names to keep each`] : []), ...(stats.is_partial ? ["  names, clients and lists are of the newest hours: there is too much to read it all"] : []),
    ...most("Blocked most", stats.top_blocked.map(({ name, times }) => [name, times])), ...most("Asked for most", stats.top_names.map(({ name, times }) => [name, times])),
    ...most("Clients", stats.top_clients.map(({ client_ip: ip, times }) => [ip, times])), ...most("Lists", stats.lists.map(({ list, times }) => [list, times])),
  ];
}
