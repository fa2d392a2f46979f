import * as z from "zod";
import { PCAP_TRIGGERS } from "../events/findings.ts";
import {
  CaptureSettings, MAX_PCAP_BYTES, MAX_PCAP_FILTER, MAX_PCAP_PACKETS, MAX_PCAP_SECONDS, MAX_PCAP_SNAP_LENGTH, MAX_PCAP_WATCH_FRAMES, PcapCounters,
  PcapSummary, PcapWatchReply,
} from "../uplink/captures.ts";
import { Sha256 } from "../uplink/files.ts";
import { Id, Instant, IpAddress } from "../values.ts";
import { BooleanQuery, listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";
import { MacInput } from "./mac.ts";

/** How far a capture is, for operators. */
export const PCAP_RECORD_STATES = ["requested", "recording", "at_probe", "uploading", "ready", "failed", "expired"] as const;

/** A capture file, and how it came about. */
export const Pcap = z.object({
  id: Id.describe("The capture's id."),
  tenant_id: Id.describe("The tenant that it belongs to."),
  site_id: Id.describe("The site where it was recorded."),
  probe_id: Id.describe("The probe that recorded it."),
  trigger: z.enum(PCAP_TRIGGERS).describe("`alert`: evidence of an alert. `request`: somebody started it. `export`: somebody had it cut from what is recorded continuously."),
  state: z.enum(PCAP_RECORD_STATES).describe(
    "`requested`: the probe has not answered yet. `recording`: it records. `at_probe`: the file is whole and lies at the probe; a download gets it. "
      + "`uploading`: it is on its way. `ready`: it can be downloaded. `failed`: see `detail`. `expired`: the file was removed because its time was over or its room was needed.",
  ),
  detail: z.string().describe("What else is to be said, as why it failed. Empty for nothing."),
  is_cut: z.boolean().describe("Whether something is missing at its end, as after a crash of the probe."),
  file_name: z.string().describe("A name for the file. Empty before the probe has reported it."),
  size_bytes: z.int().min(0).describe("Size of the file, in bytes; 0 before it is whole."),
  sha256: Sha256.nullable().describe("SHA-256 of the file. Null before it is whole."),
  packets: z.int().min(0).describe("Packets in it."),
  started_at: Instant.nullable().describe("When the first packet was seen, by the probe's clock. Null while unknown."),
  finished_at: Instant.nullable().describe("When the last packet was seen, by the probe's clock. Null while unknown."),
  interfaces: z.array(z.string()).describe("Names of the interfaces that were recorded."),
  filter: z.string().describe("Which packets were kept (pcap-filter). Empty for all."),
  snap_length: z.int().min(0).describe("The most bytes that were kept of a packet."),
  headers_only: z.boolean().describe("Whether payload was left out."),
  counters: PcapCounters.describe("What became of frames while it was recorded."),
  alert_ids: z.array(Id).describe("The alerts that it is evidence of."),
  macs: z.array(z.string()).describe("MAC addresses that it is about."),
  ips: z.array(z.string()).describe("IP addresses that it is about."),
  limits: z.object({
    seconds: z.int().nullable().describe("The longest time, in seconds. Null for an export."),
    packets: z.int().nullable().describe("The most packets. Null for an export."),
    bytes: z.int().describe("The most bytes of the file."),
  }).nullable().describe("Where it was to end: what was asked for, or what the probe allows where that is less. Null where nobody requested it."),
  requested_by: z.string().nullable().describe("Name of the user who requested it. Null where nobody did."),
  created_at: Instant.describe("When the collector first knew of it."),
  updated_at: Instant.describe("When something of this last changed."),
  lock: z.object({
    by: z.string().describe("Name of the user who locked it."),
    at: Instant.describe("When it was locked."),
    reason: z.string().describe("Why. Empty for no reason given."),
  }).nullable().describe("Kept as evidence: it is neither removed when its time is over nor deleted. Null where it is not locked."),
});
export type Pcap = z.infer<typeof Pcap>;

/** Newest first. `trigger` and `state` take several values with commas. */
export const PcapsQuery = PageQuery.extend(PeriodQuery.shape).extend({
  site_id: Id.optional().describe("Captures of this site."),
  probe_id: Id.optional().describe("Captures of this probe."),
  device_id: Id.optional().describe("Captures about an address of this device."),
  alert_id: Id.optional().describe("Captures that are evidence of this alert."),
  trigger: listQuery(PCAP_TRIGGERS).optional().describe("Captures made for these reasons, with commas between them."),
  state: listQuery(PCAP_RECORD_STATES).optional().describe("Captures in these states, with commas between them."),
  locked: BooleanQuery.optional().describe("`true`: only locked ones. `false`: only others."),
});
export type PcapsQuery = z.infer<typeof PcapsQuery>;

const Place = {
  site_id: Id.optional().describe("The site whose probe records. May be left out where the tenant has one site, or with `probe_id`."),
  probe_id: Id.optional().describe("The probe. Left out for one of the site that is online and records traffic."),
};
const Interface = z.string().min(1).max(64).nullable().default(null).describe("The interface, as `eth1`. Null for all that the probe records.");
const Filter = z.string().max(MAX_PCAP_FILTER).default("").describe("Which packets are kept, as `host 10.0.0.7 and tcp port 443` (pcap-filter). Empty for all.");

/** A capture to be started. It ends at the first of `seconds`, `packets` and `bytes`. */
export const PcapStart = z.strictObject({
  ...Place,
  interface: Interface,
  filter: Filter,
  seconds: z.int().min(1).max(MAX_PCAP_SECONDS).default(60).describe("The longest time, in seconds, at most a day."),
  packets: z.int().min(1).max(MAX_PCAP_PACKETS).default(100_000).describe("The most packets."),
  bytes: z.int().min(1024).max(MAX_PCAP_BYTES).default(64 * 1024 * 1024).describe("The most bytes of the file, at most 4 GiB."),
  snap_length: z.int().min(14).max(MAX_PCAP_SNAP_LENGTH).default(MAX_PCAP_SNAP_LENGTH).describe("The most bytes that are kept of a packet."),
  headers_only: z.boolean().default(false).describe("Leave payload out. Where the site demands it, it is left out anyway."),
});
export type PcapStart = z.infer<typeof PcapStart>;

const Host = z.union([IpAddress, MacInput], "must be an IP or MAC address");

/** A file to be cut from what a probe records continuously. */
export const PcapExport = z.strictObject({
  ...Place,
  from: Instant.describe("The beginning."),
  to: Instant.describe("The end."),
  host: Host.nullable().default(null).describe("Only packets from or to this IP or MAC address. Null for all."),
  peer: Host.nullable().default(null).describe("Only packets between `host` and this address. Null for any."),
  side: z.enum(["both", "source", "destination"]).default("both").describe("`source`: only what `host` sent. `destination`: only what was sent to it."),
  filter: Filter,
  bytes: z.int().min(1024).max(MAX_PCAP_BYTES).default(256 * 1024 * 1024).describe("The most bytes of the file, at most 4 GiB."),
}).refine(({ from, to }) => from < to, "from must be before to").refine(({ host, peer, side }) => host !== null || (peer === null && side === "both"), "peer and side need host");
export type PcapExport = z.infer<typeof PcapExport>;

const Reason = z.string().trim().min(1).max(255).optional()
  .describe("Why the packets are read. The audit log records it. Needed where the site demands it.");

/** A live view to be begun. */
export const PcapWatchStart = z.strictObject({
  ...Place,
  interface: Interface,
  filter: Filter,
  snap_length: z.int().min(14).max(2048).default(256).describe("The most bytes that are shown of a packet."),
  reason: Reason,
});
export type PcapWatchStart = z.infer<typeof PcapWatchStart>;

/** Frames of a live view. */
export const PcapWatch = PcapWatchReply.extend({
  id: Id.describe("The live view. It ends when it was not read for half a minute."),
  site_id: Id.describe("The site."),
  probe_id: Id.describe("The probe."),
});
export type PcapWatch = z.infer<typeof PcapWatch>;

/** How a live view goes on. */
export const PcapWatchQuery = z.object({
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe("`next` of the answer before."),
  limit: z.coerce.number().int().min(1).max(MAX_PCAP_WATCH_FRAMES).default(MAX_PCAP_WATCH_FRAMES).describe("The most frames in the answer."),
});

/** Why a file is downloaded. */
export const PcapDownloadQuery = z.object({ reason: Reason });

/** A file that lies at the probe is on its way. */
export const PcapFetching = z.object({
  id: Id.describe("The capture."),
  state: z.enum(PCAP_RECORD_STATES).describe("How far it is."),
  size_bytes: z.int().min(0).describe("Size of the whole file."),
  received_bytes: z.int().min(0).describe("How much of it is here."),
});
export type PcapFetching = z.infer<typeof PcapFetching>;

/** What is in a capture. */
export const PcapContents = z.object({
  id: Id.describe("The capture."),
  packets: z.int().min(0).describe("Packets in it."),
  summary: PcapSummary.nullable().describe("What is in it, as the probe saw it while it wrote the file. Null where it has not said so."),
});
export type PcapContents = z.infer<typeof PcapContents>;

/** That a capture is kept as evidence. */
export const PcapLock = z.strictObject({ reason: z.string().trim().max(255).default("").describe("Why, for later readers.") });
export type PcapLock = z.infer<typeof PcapLock>;

/** What a site's probes record, and what of it is here. */
export const SiteCaptures = z.object({
  site_id: Id.describe("The site."),
  ...CaptureSettings.shape,
  usage: z.object({
    files: z.int().min(0).describe("Files of the site that are here and not locked."),
    bytes: z.int().min(0).describe("Their size, in bytes."),
    locked_files: z.int().min(0).describe("Locked ones."),
    locked_bytes: z.int().min(0).describe("Their size, in bytes."),
  }).describe("What is stored at the collector."),
});
export type SiteCaptures = z.infer<typeof SiteCaptures>;

/** Fields left out stay. */
export const SiteCapturesUpdate = z.strictObject(CaptureSettings.shape).partial();
export type SiteCapturesUpdate = z.infer<typeof SiteCapturesUpdate>;
