import type {
  AffectedCve, AffectedDevice, CveDatabaseInfo, CveFound, CveSuppression, CveSuppressionCreate,
} from "@lanthorn/contract";
import type { Query, RestClient } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { parseCount } from "../options/row-count.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";
import type { Table } from "../table.ts";
import { describeCve } from "./cve-show.ts";
import { chanceOf, severityColor, severityOf } from "./cve-words.ts";

type Rest = Pick<Connection, "rest">;

/** Which matches are listed, and how. */
export interface AffectedOptions {
  readonly severity?: string;
  readonly cvssMin?: string;
  readonly exploited?: boolean;
  readonly site?: string;
  readonly device?: string;
  readonly product?: string;
  readonly search?: string;
  readonly status?: string;
  readonly confidence?: string;
  readonly sort?: string;
  readonly limit: string;
  readonly csv?: boolean;
}

/** What is suppressed; at least one of product, device and site. */
export interface SuppressOptions {
  readonly cve?: string;
  readonly product?: string;
  readonly device?: string;
  readonly site?: string;
  readonly reason: string;
  /** A duration or a moment. */
  readonly expires?: string;
}

const MOST_ON_A_PAGE = 1000;
const DEVICES_SHOWN = 3;

/** CVEs that concern the tenant's devices. @throws CliError `bad-option`; `not-found` for a site or device. */
export async function listAffected({ rest }: Rest, options: AffectedOptions): Promise<Answer> {
  const { severity, cvssMin, exploited, site, device, product, search, status, confidence, sort, csv = false } = options;
  const filters: Query = {
    severity, product, search, status, confidence, sort, cvss_min: cvssMin, ...(exploited && { known_exploited: true }),
    ...await siteFilter(rest, site), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }),
  };
  if (csv) {
    const text = await rest.exportAffectedCves(filters);
    return { json: text, text: text.trimEnd() };
  }
  const { data, meta } = await rest.listAffectedCves({ ...filters, per_page: parseCount(options.limit, MOST_ON_A_PAGE) });
  return {
    json: data, table: tableOfAffected(data),
    notes: [
      ...(meta.total > data.length ? [`${data.length} of ${meta.total} CVEs. More with --limit, all with --csv.`] : []),
      ...(data.length > 0 ? [`What it is and what to do: lanthorn cve show ${data[0]?.cve_id ?? "CVE"}`] : await notesOfNone(rest)),
    ],
  };
}

/** Nothing is found also where there is nothing to look in. */
async function notesOfNone(rest: Rest["rest"]): Promise<readonly string[]> {
  const { last_db_update: last, db_total_cves: total } = await rest.readCveStats({});
  return [last === null ? "The collector has no CVE database yet. How its feeds are: lanthorn cve database"
    : `No match of these filters among ${total} known CVEs. What is patched, possible or suppressed is listed by --status and --confidence.`];
}

/** All that is known of one CVE, with the tenant's devices that have it. */
export async function showCve({ rest }: Rest, id: string): Promise<Answer> {
  const cve = await rest.readCve(id);
  return { json: cve, text: (width, hasColors) => describeCve(cve, width, hasColors) };
}

/** Searches the CVE database, whatever it concerns. */
export async function searchCves({ rest }: Rest, words: readonly string[], { cvssMin, limit }: { readonly cvssMin?: string; readonly limit: string }): Promise<Answer> {
  const { data, meta } = await rest.searchCves({ q: words.join(" "), cvss_min: cvssMin, per_page: parseCount(limit, 100) });
  return {
    json: data,
    table: {
      heading: [...FACTS, "PUBLISHED", "DESCRIPTION"], rows: data.map((cve) => [...factsOf(cve), cve.published ?? "-", shorten(cve.description)]),
      colored: colorsOf(data), keptColumns: 3,
    },
    notes: meta.total > data.length ? [`${data.length} of ${meta.total} CVEs`] : [],
  };
}

/** How many CVEs concern the tenant's devices. */
export async function readStats({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const stats = await rest.readCveStats(await siteFilter(rest, site));
  const { critical, high, medium, low } = stats.by_severity;
  const rows: readonly (readonly [string, string])[] = [
    ["CVEs", `${stats.total_matched}: ${critical} critical, ${high} high, ${medium} medium, ${low} low`],
    ["exploited", `${stats.known_exploited} known to be exploited`], ["devices", `${stats.affected_devices} affected`],
    ["database", stats.last_db_update === null ? "empty; fill it with: lanthorn cve update"
      : `${stats.db_total_cves} CVEs, updated ${shortTime(stats.last_db_update)}`],
  ];
  return { json: stats, text: rows.map(([name, value]) => `${name.padEnd(11)}${value}`).join("\n") };
}

/** Says that some matches do not count. @param now Milliseconds since the epoch. @throws CliError `bad-option`; `not-found`. */
export async function createSuppression({ rest }: Rest, { cve, product, device, site, reason, expires }: SuppressOptions, now: number): Promise<Answer> {
  if ((product ?? device ?? site) === undefined) {
    throw new CliError("bad-option", "say where it does not count: at least one of --product, --device and --site");
  }
  const wish: CveSuppressionCreate = {
    ...(cve !== undefined && { cve_id: cve }), ...(product !== undefined && { product }), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }),
    ...await siteFilter(rest, site), reason, ...(expires !== undefined && { expires_at: parseExpiry(expires, now) }),
  };
  const made = await rest.createCveSuppression(wish);
  return { ...answerSuppressions([made]), json: made, notes: ["It is listed with --status suppressed. End it with: lanthorn cve unsuppress ID"] };
}

/** Suppressions that have not expired. */
export async function listSuppressions({ rest }: Rest): Promise<Answer> {
  return answerSuppressions(await collect(rest.listCveSuppressions));
}

/** Ends a suppression. */
export async function endSuppression({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteCveSuppression(id);
  return { json: { id }, text: `ended the suppression ${id}: what it hid counts again` };
}

/** Starts an update of the CVE database. */
export async function startUpdate({ rest }: { readonly rest: Pick<RestClient, "startCveUpdate"> }): Promise<Answer> {
  const update = await rest.startCveUpdate();
  return { json: update, text: `started the update of ${update.feeds.map(({ name }) => name).join(", ")}\nHow far it is: lanthorn cve database` };
}

/** How old and how large the CVE database is. */
export async function showDatabase({ rest }: Rest): Promise<Answer> {
  const info = await rest.readCveDatabase();
  const words = wordsOfDatabase(info);
  return info.feeds.length === 0 ? { json: info, text: words } : { json: info, table: tableOfFeeds(info), notes: [words] };
}

const FACTS = ["CVE", "SEVERITY", "CVSS", "EXPLOITED", "EPSS"] as const;

function factsOf({ cve_id: id, cvss_score: score, known_exploited: isKnown, epss, severity }: Pick<CveFound, "cve_id" | "severity" | "cvss_score" | "known_exploited" | "epss">): readonly string[] {
  return [id, severityOf(severity), score === null ? "-" : score.toFixed(1), isKnown ? "yes" : "-", chanceOf(epss)];
}

function colorsOf(cves: readonly Pick<CveFound, "severity">[]): NonNullable<Table["colored"]> {
  return { column: 1, colors: cves.map(({ severity }) => severityColor(severity)) };
}

function tableOfAffected(cves: readonly AffectedCve[]): Table {
  return {
    heading: [...FACTS, "DEVICES", "SOFTWARE", "WHERE"], keptColumns: 6,
    rows: cves.map((cve) => {
      const { affected_devices: devices, affected_devices_total: total } = cve;
      const software = softwareOf(devices);
      const named = [...new Set(devices.map(placeOf))];
      return [...factsOf(cve), String(total), listOf(software, software.length, "; "), listOf(named, Math.max(total, named.length))];
    }),
    colored: colorsOf(cves),
  };
}

/** Each product once, with its versions. */
function softwareOf(devices: readonly AffectedDevice[]): readonly string[] {
  const products = new Map<string, Set<string>>();
  for (const { product, version } of devices) products.set(product, (products.get(product) ?? new Set()).add(version || "of unknown version"));
  return [...products].map(([product, versions]) => `${product} ${listOf([...versions].toSorted(byNumbers), versions.size)}`);
}

function byNumbers(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function placeOf({ ip, hostname, device_id: id, matched_port: port, protocol }: AffectedDevice): string {
  const device = hostname || ip || id;
  return port === null ? device : `${device} ${port}/${protocol}`;
}

/** @param total How many there are, of which `texts` are the first ones. */
function listOf(texts: readonly string[], total: number, between = ", "): string {
  const shown = texts.slice(0, DEVICES_SHOWN);
  return [...shown, ...(total > shown.length ? [`and ${total - shown.length} more`] : [])].join(between);
}

function answerSuppressions(suppressions: readonly CveSuppression[]): Answer {
  return {
    json: suppressions,
    table: {
      heading: ["CVE", "PRODUCT", "DEVICE", "SITE", "UNTIL", "REASON", "BY", "ID"],
      rows: suppressions.map(({ cve_id: cve, product, device_id: device, site_id: site, expires_at: until, reason, created_by: by, id }) => [
        cve ?? "any", product ?? "any", device ?? "any", site ?? "any", until === null ? "no end" : shortTime(until), reason, by, id,
      ]),
    },
  };
}

function tableOfFeeds({ feeds }: CveDatabaseInfo): Table {
  return {
    heading: ["FEED", "UPDATED", "CHECKED", "NEXT", "RECORDS", "PROBLEM"],
    rows: feeds.map(({ name, updated_at: updated, checked_at: checked, next_at: next, records, problems, error }) => [
      name, updated === null ? "never" : shortTime(updated), checked === null ? "never" : shortTime(checked), next === null ? "off" : shortTime(next),
      records === null ? "-" : String(records), error ?? (problems.join(", ") || "-"),
    ]),
  };
}

function wordsOfDatabase({ total_entries: entries, last_update: last, next_scheduled_update: next, updating }: CveDatabaseInfo): string {
  if (updating) return `${entries} CVEs. It is being updated now.`;
  const due = next === null ? "Updates are disabled." : `The next update starts ${shortTime(next)}.`;
  return last === null ? `It is empty: fill it with lanthorn cve update. ${due}` : `${entries} CVEs, updated ${shortTime(last)}. ${due}`;
}

const MAX_DESCRIPTION = 160;

function shorten(description: string): string {
  const text = description.replaceAll(/\s+/g, " ");
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…`;
}
