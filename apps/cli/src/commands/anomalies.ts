import type { AnomalyDetails, AnomalyRow } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { parseExpiry } from "../options/expiry.ts";
import { parseCount } from "../options/row-count.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";
import { plainText } from "./ids.ts";

type Rest = Pick<Connection, "rest">;

/** Which anomalies. */
export interface AnomalyListOptions {
  readonly site?: string;
  readonly device?: string;
  readonly kind?: string;
  readonly since?: string;
  readonly until?: string;
  /** With those that somebody said are normal, and those beyond the day's budget. */
  readonly all: boolean;
  readonly limit: string;
}

/** For whom and until when something is normal. */
export interface NormalOptions {
  readonly group: boolean;
  readonly until?: string;
  readonly reason: string;
}

const PLOT_ROWS = 8;
/** Eighths of a row, from the bottom. */
export const EIGHTHS = " ▁▂▃▄▅▆▇█";
const BYTES: ReadonlySet<string> = new Set(["bytes_out", "bytes_in", "bytes_outside", "bytes_to_rare"]);
const SHARES: ReadonlySet<string> = new Set(["nxdomain_share", "east_west_share", "beacon"]);

/** Anomalies, the newest first. @throws CliError `not-found`; `bad-option`. */
export async function listAnomalies({ rest }: Rest, { site, device, kind, since, until, all, limit }: AnomalyListOptions): Promise<Answer> {
  const { data, meta } = await rest.listAnomalies({
    ...await siteFilter(rest, site), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }), ...(kind !== undefined && { kind }), ...(since !== undefined && { since }),
    ...(until !== undefined && { until }), ...(!all && { is_alert: true, is_normal: false }), per_page: parseCount(limit, 1000),
  });
  if (data.length === 0) return { json: data, text: await whyNone(rest, all) };
  const rows = data.map((row) => [shortTime(row.found_at), row.severity, row.kind, plainText(row.ip || row.device), `${write(row.metric, row.observed)} (up to ${write(row.metric, row.expected_high)})`, row.id, stateOf(row)]);
  return { json: data, table: { heading: ["FOUND", "SEVERITY", "KIND", "DEVICE", "OBSERVED (EXPECTED)", "ID", "STATE"], rows }, notes: meta.total > data.length ? [`${data.length} of ${meta.total}: narrow it down, or raise --limit`] : [] };
}

/** What explains an anomaly, with a plot of the hours before. */
export async function showAnomaly({ rest }: Rest, id: string): Promise<Answer> {
  const one = await rest.readAnomaly(id);
  return { json: one, text: linesOf(one).join("\n") };
}

/** Says that an anomaly is normal. @param now Milliseconds since the epoch. @throws CliError `bad-option`. */
export async function sayNormal({ rest }: Rest, id: string, { group, until, reason }: NormalOptions, now: number): Promise<Answer> {
  const said = await rest.createAnomalyFeedback(id, { scope: group ? "group" : "device", reason, ...(until !== undefined && { until: parseExpiry(until, now, "--until") }) });
  const whom = plainText(said.group === null ? said.device ?? "" : `devices of the group "${said.group}"`);
  return { json: said, text: `${said.kind} is normal for ${whom}${said.until === null ? "" : ` until ${shortTime(said.until)}`}. Take it back with: lanthorn anomalies unlearn ${said.id}` };
}

/** What is said to be normal. */
export async function listNormal({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const filter = await siteFilter(rest, site);
  const all = await collect((query) => rest.listAnomalyFeedback({ ...query, ...filter }));
  const rows = all.map((one) => [one.kind, plainText(one.group === null ? one.device ?? "" : `group ${one.group}`), one.until === null ? "always" : shortTime(one.until), plainText(one.created_by), plainText(one.reason), one.id]);
  return { json: all, table: { heading: ["KIND", "DEVICE", "UNTIL", "BY", "REASON", "ID"], rows } };
}

/** Takes feedback back. */
export async function takeBackNormal({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteAnomalyFeedback(id);
  return { json: { id }, text: `took back ${id}: it is reported again` };
}

/** How many devices probes know. */
export async function listModels({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listAnomalyModels(query));
  const rows = all.map(({ name, is_online: isOnline, state }) => [
    plainText(name), isOnline ? "online" : "away", ...(state === null ? ["not watching", "", "", "", "", "", ""] : [state.learning, state.active, state.drifted, state.frozen, state.compared_hours, state.thin_hours ?? "-", state.distrusted_hours].map(String)),
  ]);
  const atAccessPort = all.filter(({ state, other_hosts: others }) => state !== null && others === "none").map(({ name }) => plainText(name));
  const blind = all.filter(({ state }) => state?.countries === 0).map(({ name }) => plainText(name));
  const notes = atAccessPort.length === 0 ? [] : [`at an access port: ${atAccessPort.join(", ")}: of other devices only presence, DHCP and other broadcasts are learned`];
  if (blind.length > 0) notes.push(`no table of countries yet at ${blind.join(", ")}: a country that a device never spoke to is not found (feed "countries" of the collector)`);
  return { json: all, notes, table: { heading: ["PROBE", "STATE", "LEARNING", "ACTIVE", "DRIFTED", "FROZEN", "HOURS COMPARED", "OF THEM NOT LEARNED", "HOURS NOT TRUSTED"], rows } };
}

/** Nothing found means something only where somebody looks. */
async function whyNone(rest: Connection["rest"], all: boolean): Promise<string> {
  const models = await collect((query) => rest.listAnomalyModels(query));
  const watching = models.filter(({ state }) => state !== null);
  if (watching.length === 0) return "no probe watches the behavior of devices: it needs a probe that reads all traffic ([traffic] in its configuration)";
  const learning = watching.reduce((sum, { state }) => sum + (state?.learning ?? 0), 0);
  return `no anomalies${all ? "" : " that raised an alert; with --all also those that are normal or beyond the day's budget"}. ${learning === 0 ? "" : `${learning} devices are still learned, and raise none.`}`.trim();
}

function stateOf({ is_alert: isAlert, is_normal: isNormal }: AnomalyRow): string {
  return isNormal ? "normal" : isAlert ? "alert" : "held back";
}

function linesOf(one: AnomalyDetails): readonly string[] {
  const { features, series, peers, news, around, techniques, site_series: ofSite, pcap_ids: captures } = one;
  return [
    `${one.kind} of ${one.ip || one.device}${one.mac !== "" && one.ip !== "" ? ` (${one.mac})` : ""}, ${one.severity}, ${stateOf(one)}`, one.explanation, "",
    `since ${shortTime(one.since)}, found ${shortTime(one.found_at)}${one.group === "" ? "" : `, compared with devices that are like it: ${one.group}`}`,
    ...(techniques.length === 0 ? [] : [`ATT&CK: ${techniques.join(", ")}`]), ...(peers.length === 0 ? [] : [`hosts: ${peers.join(", ")}`]), ...(news.length === 0 ? [] : [`new: ${news.join(", ")}`]), "",
    ...features.map(({ name, share, observed, expected_high: high, usual }) => `${`${Math.round(100 * share)} %`.padStart(6)}  ${name}: ${write(name, observed)}; up to ${write(name, high)} is expected, ${write(name, usual)} is usual at this hour`),
    ...(series === null ? [] : ["", ...plot(features[0]?.name ?? one.metric, series)]),
    ...(ofSite.length === 0 ? [] : ["", "Unusual of the whole site in that hour:", ...ofSite.map(({ name, observed, at, score }) => `  ${shortTime(at)}  ${name}: ${write(name, observed)} in five minutes, ${Math.round(100 * score)} %`)]),
    ...(around.length === 0 ? [] : ["", "At the same time:", ...around.map(({ type, at }) => `  ${shortTime(at)}  ${type}`)]),
    ...(captures.length === 0 ? [] : ["", "Packets:", ...captures.map((id) => `  lanthorn pcap show ${id}`)]),
    ...(one.is_normal ? [] : ["", `If it is normal: lanthorn anomalies normal ${one.id}`]),
  ].map(plainText);
}

/** Bars, one column for each value, the highest of which reaches the top. */
function plot(name: string, { bucket_seconds: seconds, ends_at: endsAt, values }: NonNullable<AnomalyDetails["series"]>): readonly string[] {
  const most = Math.max(...values, Number.MIN_VALUE);
  const top = write(name, Math.max(...values, 0));
  const lines = Array.from({ length: PLOT_ROWS }, (_, row) => {
    const bars = values.map((value) => EIGHTHS[Math.round(Math.min(8, Math.max(0, (value / most) * PLOT_ROWS * 8 - (PLOT_ROWS - 1 - row) * 8)))] ?? " ").join("");
    return `${(row === 0 ? top : row === PLOT_ROWS - 1 ? "0" : "").padStart(10)} ┤${bars}`;
  });
  const from = shortTime(new Date(Date.parse(endsAt) - values.length * seconds * 1000).toISOString());
  return [`${name} in ${Math.round(seconds / 60)} minutes each:`, ...lines, `${"".padStart(10)} └${"─".repeat(values.length)}`, `${"".padStart(12)}${from} to ${shortTime(endsAt)}`];
}

/** A value as people read it. @param name Of the feature. */
export function write(name: string, value: number): string {
  if (SHARES.has(name)) return `${Math.round(100 * value)} %`;
  if (!BYTES.has(name)) return String(Math.round(value));
  const [size, unit] = value >= 1e9 ? [value / 1e9, "GB"] : value >= 1e6 ? [value / 1e6, "MB"] : [value / 1e3, "kB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}
