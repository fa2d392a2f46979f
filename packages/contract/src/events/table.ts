import * as z from "zod";
import { Instant } from "../values.ts";
import { DnsQueries } from "./dns-queries.ts";
import { HoneypotCredentials, HoneypotEvidence } from "./honeypots.ts";
import { FeedHealth, FeedUpdate } from "./feeds.ts";
import { ConfigChanged, PcapReady, PcapRecorded, VulnFound, VulnState } from "./findings.ts";
import { HostChanged, HostOffline, HostOnline, HostState, PresenceReport } from "./hosts.ts";
import { NeighborDiscovered, NeighborLost, NeighborReport } from "./neighbors.ts";
import {
  AlertCreated, AlertResolved, BackupCompleted, BackupDownloaded, BackupFailed, DiscoveryStorm, ErrorEvent, IpamConflictEvent, LicenseState,
  ProbeHealthAlert, ProbeReturned,
  ProbeSilent, QueueGap,
} from "./operations.ts";
import { PortFound } from "./ports.ts";
import { ScanCancelled, ScanComplete, ScanFailed, ScanProgress, ScanRemark, ScanResults, ScanStarted } from "./scans.ts";
import { HostSoftware } from "./software.ts";
import { SwitchReport } from "./switches.ts";
import { AnomalyDetected, BaselineDiffAlert, DnsThreat, HoneypotHit, IdsAlert, RogueDetected } from "./security.ts";

/** The events of the WebSocket stream: the fourteen of the specification, and how far an update of downloaded data is. */
export const STREAM_EVENTS = [
  "host_found", "port_found", "scan_complete", "neighbor_discovered", "config_changed", "baseline_diff_alert", "ids_alert",
  "honeypot_hit", "rogue_detected", "pcap_ready", "vuln_found", "dns_threat", "probe_health_alert", "error", "feed_update",
] as const;
/** One of `STREAM_EVENTS`. */
export type StreamEvent = (typeof STREAM_EVENTS)[number];

/** The fourteen events that a webhook may subscribe to. */
export const WEBHOOK_EVENTS = [
  "alert.created", "alert.resolved", "scan.started", "scan.completed", "scan.failed", "device.discovered", "device.offline",
  "ids.alert", "honeypot.hit", "rogue.detected", "cve.matched", "backup.completed", "backup.failed", "anomaly.detected",
] as const;
/** One of `WEBHOOK_EVENTS`. */
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/**
 * Webhook events by which somebody is called. Of what an outage kept back for more than ten minutes none is sent: by then it
 * is in the log, in the lists, and in a replay that a person asks for.
 */
export const CALLING_EVENTS: ReadonlySet<WebhookEvent> = new Set([
  "alert.created", "device.offline", "ids.alert", "honeypot.hit", "rogue.detected", "anomaly.detected",
]);

/** What goes first when a probe's disk budget is spent: `sighting`, then `change`; `alert` goes last. */
export const PRIORITIES = ["sighting", "change", "alert"] as const;
/** One of `PRIORITIES`. */
export type Priority = (typeof PRIORITIES)[number];

interface EventDeclaration {
  readonly data: z.ZodObject;
  readonly from: "probe" | "collector";
  readonly priority: Priority;
  /** The WebSocket event that it becomes, with `site_id`, `probe_id` and `device_id` added to its data. */
  readonly stream: StreamEvent | null;
  /** The webhook event that it becomes. */
  readonly webhook: WebhookEvent | null;
}

/** Every event of the system: its data, who says it, and what it becomes outside. Code and documentation read this one table. */
export const EVENTS = {
  /** A host that this probe had never seen. */
  host_found: { data: HostState, from: "probe", priority: "change", stream: "host_found", webhook: "device.discovered" },
  host_changed: { data: HostChanged, from: "probe", priority: "change", stream: null, webhook: null },
  host_online: { data: HostOnline, from: "probe", priority: "change", stream: null, webhook: null },
  host_offline: { data: HostOffline, from: "probe", priority: "change", stream: null, webhook: "device.offline" },
  presence_report: { data: PresenceReport, from: "probe", priority: "sighting", stream: null, webhook: null },
  port_found: { data: PortFound, from: "probe", priority: "change", stream: "port_found", webhook: null },
  host_software: { data: HostSoftware, from: "probe", priority: "change", stream: null, webhook: null },
  scan_started: { data: ScanStarted, from: "probe", priority: "change", stream: null, webhook: "scan.started" },
  scan_progress: { data: ScanProgress, from: "probe", priority: "sighting", stream: null, webhook: null },
  scan_results: { data: ScanResults, from: "probe", priority: "change", stream: null, webhook: null },
  scan_remark: { data: ScanRemark, from: "probe", priority: "change", stream: "error", webhook: null },
  scan_complete: { data: ScanComplete, from: "probe", priority: "change", stream: "scan_complete", webhook: "scan.completed" },
  scan_failed: { data: ScanFailed, from: "probe", priority: "change", stream: null, webhook: "scan.failed" },
  scan_cancelled: { data: ScanCancelled, from: "probe", priority: "change", stream: null, webhook: null },
  neighbor_discovered: { data: NeighborDiscovered, from: "probe", priority: "change", stream: "neighbor_discovered", webhook: null },
  neighbor_lost: { data: NeighborLost, from: "probe", priority: "change", stream: null, webhook: null },
  neighbor_report: { data: NeighborReport, from: "probe", priority: "sighting", stream: null, webhook: null },
  switch_report: { data: SwitchReport, from: "probe", priority: "change", stream: null, webhook: null },
  config_changed: { data: ConfigChanged, from: "collector", priority: "change", stream: "config_changed", webhook: null },
  baseline_diff_alert: { data: BaselineDiffAlert, from: "collector", priority: "alert", stream: "baseline_diff_alert", webhook: null },
  anomaly_detected: { data: AnomalyDetected, from: "probe", priority: "alert", stream: null, webhook: "anomaly.detected" },
  ids_alert: { data: IdsAlert, from: "probe", priority: "alert", stream: "ids_alert", webhook: "ids.alert" },
  honeypot_hit: { data: HoneypotHit, from: "probe", priority: "alert", stream: "honeypot_hit", webhook: "honeypot.hit" },
  rogue_detected: { data: RogueDetected, from: "probe", priority: "alert", stream: "rogue_detected", webhook: "rogue.detected" },
  dns_threat: { data: DnsThreat, from: "probe", priority: "alert", stream: "dns_threat", webhook: null },
  /** Passwords that were tried at a decoy. Not for the log: who keeps them takes them out of there. */
  honeypot_credentials: { data: HoneypotCredentials, from: "probe", priority: "change", stream: null, webhook: null },
  /** Transcripts, files and fingerprints. Not for the log: who keeps transcripts takes them out of there. */
  honeypot_evidence: { data: HoneypotEvidence, from: "probe", priority: "change", stream: null, webhook: null },
  /** What a site's resolver was asked. Not for the log: who keeps it takes it out of there. */
  dns_queries: { data: DnsQueries, from: "probe", priority: "sighting", stream: null, webhook: null },
  pcap_recorded: { data: PcapRecorded, from: "probe", priority: "change", stream: null, webhook: null },
  pcap_ready: { data: PcapReady, from: "collector", priority: "change", stream: "pcap_ready", webhook: null },
  vuln_found: { data: VulnFound, from: "collector", priority: "change", stream: "vuln_found", webhook: "cve.matched" },
  vuln_state: { data: VulnState, from: "collector", priority: "change", stream: null, webhook: null },
  probe_health_alert: { data: ProbeHealthAlert, from: "probe", priority: "alert", stream: "probe_health_alert", webhook: null },
  error: { data: ErrorEvent, from: "probe", priority: "alert", stream: "error", webhook: null },
  queue_gap: { data: QueueGap, from: "probe", priority: "alert", stream: "error", webhook: null },
  probe_silent: { data: ProbeSilent, from: "collector", priority: "alert", stream: "error", webhook: null },
  probe_returned: { data: ProbeReturned, from: "collector", priority: "change", stream: null, webhook: null },
  discovery_storm: { data: DiscoveryStorm, from: "collector", priority: "alert", stream: "error", webhook: null },
  alert_created: { data: AlertCreated, from: "collector", priority: "alert", stream: null, webhook: "alert.created" },
  alert_resolved: { data: AlertResolved, from: "collector", priority: "alert", stream: null, webhook: "alert.resolved" },
  backup_completed: { data: BackupCompleted, from: "collector", priority: "change", stream: null, webhook: "backup.completed" },
  backup_downloaded: { data: BackupDownloaded, from: "collector", priority: "alert", stream: null, webhook: null },
  license_state: { data: LicenseState, from: "collector", priority: "alert", stream: null, webhook: null },
  ipam_conflict: { data: IpamConflictEvent, from: "collector", priority: "alert", stream: null, webhook: null },
  feed_update: { data: FeedUpdate, from: "collector", priority: "sighting", stream: "feed_update", webhook: null },
  feed_health: { data: FeedHealth, from: "collector", priority: "alert", stream: null, webhook: null },
  backup_failed: { data: BackupFailed, from: "collector", priority: "alert", stream: null, webhook: "backup.failed" },
} as const satisfies Record<string, EventDeclaration>;

/** A key of `EVENTS`: the name of an event in the log, in the outbox and in alerts' evidence. */
export type EventType = keyof typeof EVENTS;
/** Every event type, in the order of `EVENTS`. */
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];
/** The data of one event type, as its schema gives it back. */
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]["data"]>;

/** An event as it is first written down: what happened, when by the clock of whoever saw it, and the data of its type. */
export type Event = { readonly [T in EventType]: {
  readonly type: T; readonly occurred_at: string; readonly data: EventData<T>;
} }[EventType];

/** Event types that a probe may send; `parseProbeEvent` refuses all others. */
export type ProbeEventType = { [T in EventType]: (typeof EVENTS)[T]["from"] extends "probe" ? T : never }[EventType];
/** An event that a probe may send. Its sequence number is the outbox's matter. */
export type ProbeEvent = Extract<Event, { readonly type: ProbeEventType }>;

const EventHead = z.object({ type: z.string(), occurred_at: Instant, data: z.unknown() });

/**
 * Checks an event that came from a probe.
 * @returns The event with unknown data fields left out, or the first thing that is wrong with it in words.
 */
export function parseProbeEvent(value: unknown): { readonly ok: true; readonly event: ProbeEvent } | {
  readonly ok: false; readonly message: string;
} {
  const head = EventHead.safeParse(value);
  if (!head.success) return { ok: false, message: firstIssue(head.error) };
  const { type, occurred_at } = head.data;
  const declaration = Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType] : undefined;
  if (declaration?.from !== "probe") {
    return { ok: false, message: `type: no event of a probe is called ${JSON.stringify(type.slice(0, 64))}` };
  }
  const data = declaration.data.safeParse(head.data.data);
  if (!data.success) return { ok: false, message: `data.${firstIssue(data.error)}` };
  return { ok: true, event: { type, occurred_at, data: data.data } as ProbeEvent };
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue ? `${issue.path.join(".")}: ${issue.message}` : "not valid";
}
