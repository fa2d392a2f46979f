import { CaptureSettings, type Pcap, type PcapContents, type PcapExport, type PcapStart, type SiteCaptures, type SiteCapturesUpdate } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { shortTime } from "../short-time.ts";
import { oneSite, siteFilter } from "../site-id.ts";

type Rest = Pick<Connection, "rest">;

/** Which captures are listed. */
export interface PcapListOptions {
  readonly site?: string;
  readonly probe?: string;
  readonly device?: string;
  readonly alert?: string;
  readonly trigger?: string;
  readonly state?: string;
  readonly since?: string;
  readonly until?: string;
  readonly locked?: true;
  readonly limit: number;
}

/** Where a probe is to capture or to cut. */
export interface PcapPlace {
  readonly site?: string;
  readonly probe?: string;
}

/** The latest captures, the newest first. */
export async function listPcaps({ rest }: Rest, { site, probe, device, alert, limit, ...same }: PcapListOptions): Promise<Answer> {
  const { data, meta } = await rest.listPcaps({
    ...await siteFilter(rest, site), probe_id: probe, alert_id: alert, per_page: limit, ...same, ...(device !== undefined && { device_id: await findDeviceId(rest, device) }),
  });
  return {
    ...tableOf(data), json: data,
    ...(meta.total > data.length && { notes: [`${data.length} of ${meta.total} captures; more with --limit`] }),
  };
}

/** Starts a capture by the site's probe, or the named one. */
export async function startPcap({ rest }: Rest, place: PcapPlace, order: Omit<PcapStart, "site_id" | "probe_id">): Promise<Answer> {
  const pcap = await rest.startPcap({ ...order, ...await placeOf(rest, place) });
  return { ...tableOf([pcap]), json: pcap, notes: [`It ends by itself. End it now with: lanthorn pcap stop ${pcap.id}`, `Then get the file with: lanthorn pcap get ${pcap.id}`] };
}

/** Has a file cut from what a probe has recorded continuously. */
export async function exportPcap({ rest }: Rest, place: PcapPlace, order: Omit<PcapExport, "site_id" | "probe_id">): Promise<Answer> {
  const pcap = await rest.exportPcap({ ...order, ...await placeOf(rest, place) });
  return { ...tableOf([pcap]), json: pcap, notes: [`The probe makes the file. See how far it is with: lanthorn pcap show ${pcap.id}`] };
}

/** Ends a capture. */
export async function stopPcap({ rest }: Rest, id: string): Promise<Answer> {
  const pcap = await rest.stopPcap(id);
  return { json: pcap, text: `the capture ${id} ends; its state is ${pcap.state}` };
}

/** A capture and what is in it. */
export async function showPcap({ rest }: Rest, id: string): Promise<Answer> {
  const [pcap, contents] = await Promise.all([rest.readPcap(id), rest.readPcapSummary(id)]);
  return { json: { ...pcap, summary: contents.summary }, table: factsOf(pcap), notes: contentsOf(contents) };
}

/** Keeps a capture as evidence, or no longer. */
export async function lockPcap({ rest }: Rest, id: string, reason: string | null): Promise<Answer> {
  const pcap = reason === null ? await rest.unlockPcap(id) : await rest.lockPcap(id, { reason });
  return { json: pcap, text: pcap.lock ? `the capture ${id} is kept until it is unlocked` : `the capture ${id} goes when its time is over` };
}

/** Deletes a capture here and at the probe. */
export async function removePcap({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deletePcap(id);
  return { json: { id }, text: `deleted the capture ${id}` };
}

/** What a site's probes record; with settings as NAME=VALUE, changed first. @throws CliError `bad-option`. */
export async function pcapSettings({ rest }: Rest, site: string | undefined, settings: readonly string[]): Promise<Answer> {
  const siteId = await oneSite(rest, site);
  return settingsAnswer(settings.length === 0 ? await rest.readSiteCaptures(siteId) : await rest.updateSiteCaptures(siteId, parseSettings(settings)));
}

async function placeOf(rest: Rest["rest"], { site, probe }: PcapPlace): Promise<{ readonly site_id: string } | { readonly probe_id: string }> {
  return probe === undefined ? { site_id: await oneSite(rest, site) } : { probe_id: probe };
}

function tableOf(pcaps: readonly Pcap[]): Pick<Answer, "table"> {
  return {
    table: {
      heading: ["ID", "STATE", "WHY", "BEGAN", "PACKETS", "BYTES", "LOCKED", "ABOUT"],
      rows: pcaps.map((pcap) => [
        pcap.id, pcap.state, pcap.requested_by === null ? pcap.trigger : `${pcap.trigger} by ${pcap.requested_by}`, shortTime(pcap.started_at ?? pcap.created_at),
        String(pcap.packets), String(pcap.size_bytes), pcap.lock ? "yes" : "-", pcap.filter || [...pcap.ips, ...pcap.macs].slice(0, 3).join(", ") || "-",
      ]),
    },
  };
}

function factsOf(pcap: Pcap) {
  const { counters } = pcap;
  const rows: readonly (readonly [string, string])[] = [
    ["state", [pcap.state, pcap.is_cut ? "something is missing at its end" : "", pcap.detail].filter(Boolean).join(": ")],
    ["file", `${pcap.file_name || "-"}, ${pcap.size_bytes} bytes, ${pcap.packets} packets`], ["sha256", pcap.sha256 ?? "-"],
    ["time", `${pcap.started_at === null ? "-" : shortTime(pcap.started_at)} to ${pcap.finished_at === null ? "-" : shortTime(pcap.finished_at)} (the probe's clock)`],
    ["interfaces", pcap.interfaces.join(", ") || "all"], ["filter", pcap.filter || "none"],
    ["kept of a packet", pcap.headers_only ? "headers only" : pcap.snap_length === 0 ? "-" : pcap.snap_length >= WHOLE_PACKET ? "all of it" : `${pcap.snap_length} bytes`],
    ["frames", `${counters.received} seen, ${counters.left_out} left out on purpose, lost: ${counters.dropped_by_kernel} by the kernel, ${counters.dropped_by_probe} by the probe`],
    ["alerts", pcap.alert_ids.join(", ") || "none"], ["about", [...pcap.ips, ...pcap.macs].join(", ") || "everything"],
    ["locked", pcap.lock === null ? "no" : `by ${pcap.lock.by} at ${shortTime(pcap.lock.at)}${pcap.lock.reason === "" ? "" : `: ${pcap.lock.reason}`}`],
    ["site, probe", `${pcap.site_id}, ${pcap.probe_id}`],
  ];
  return { heading: ["CAPTURE", pcap.id], rows };
}

function contentsOf({ summary }: PcapContents): readonly string[] {
  if (!summary) return ["The probe has not said yet what is in it."];
  const { protocols, talkers, flows, flows_total: total, timeline } = summary;
  return [
    `Packets over time, from ${shortTime(timeline.from)}, ${timeline.step_ms / 1000} s each: ${lineOfTime(timeline.packets)}`,
    `Protocols: ${protocols.map(({ name, packets }) => `${name} ${packets}`).join(", ") || "none"}`,
    `Who has most bytes: ${talkers.slice(0, 10).map(({ address, bytes }) => `${address} ${bytes}`).join(", ") || "nobody"}`,
    `Conversations with their bytes, ${Math.min(10, flows.length)} of ${total}: ${flows.slice(0, 10).map(flowWords).join("; ") || "none"}`,
  ];
}

/** What has no ports, as ARP, has none here. */
function flowWords({ protocol, source, source_port: from, destination, destination_port: to, bytes }: NonNullable<PcapContents["summary"]>["flows"][number]): string {
  const hasPorts = from !== 0 || to !== 0;
  return `${protocol} ${source}${hasPorts ? `.${from}` : ""} > ${destination}${hasPorts ? `.${to}` : ""} ${bytes}`;
}

/** Longer packets pass no link. */
const WHOLE_PACKET = 65_536;
const BARS = "▁▂▃▄▅▆▇█";

/** A bar for each step, as high as it has packets beside the fullest one; a blank for none. */
export function lineOfTime(packets: readonly number[]): string {
  const most = Math.max(1, ...packets);
  return packets.map((count) => (count === 0 ? " " : BARS[Math.min(BARS.length - 1, Math.floor((count / most) * (BARS.length - 1)))])).join("");
}

const SWITCHES: Readonly<Record<string, boolean>> = { on: true, off: false, true: true, false: false, yes: true, no: false };

function parseSettings(settings: readonly string[]): SiteCapturesUpdate {
  const given = Object.fromEntries(settings.map((setting) => {
    const [name = "", ...rest] = setting.split("=");
    const value = rest.join("=");
    if (name === "headers_only_networks") return [name, value.split(",").filter(Boolean)];
    return [name, Object.hasOwn(SWITCHES, value) ? SWITCHES[value] : value];
  }));
  const parsed = CaptureSettings.partial().strict().safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CliError("bad-option", `${issue?.path.join(".") || settings.join(" ")}: ${issue?.message ?? "not a setting"}; see lanthorn pcap settings --help`);
}

function settingsAnswer(captures: SiteCaptures): Answer {
  const { usage } = captures;
  const word = (is: boolean) => (is ? "on" : "off");
  return {
    json: captures,
    table: {
      heading: ["SETTING", "VALUE"],
      rows: [
        ["evidence", word(captures.evidence)], ["upload", captures.upload], ["headers_only", word(captures.headers_only)],
        ["headers_only_networks", captures.headers_only_networks.join(",") || "none"],
        ["require_reason", word(captures.require_reason)],
      ],
    },
    notes: [`Stored: ${usage.files} files, ${usage.bytes} bytes; locked: ${usage.locked_files} files, ${usage.locked_bytes} bytes.`],
  };
}
