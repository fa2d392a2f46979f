import type { EventData, EventType } from "@lanthorn/contract";
import { anomalyFinding } from "./findings/anomalies.ts";
import { differenceFinding, differenceSubject } from "./baselines.ts";
import { dnsThreatFinding } from "./findings/dns-threats.ts";
import type { Finding } from "./finding.ts";
import { honeypotFinding } from "./findings/honeypot.ts";
import { ROGUES, rogueSubject } from "./rogues.ts";

/** An event as a rule sees it. */
export interface Fact<T extends EventType> {
  readonly data: EventData<T>;
  readonly probeId: string | null;
  readonly deviceId: string | null;
}

/** How events of one type raise and end alerts. Rules are pure: the event alone decides. */
export interface Rule<T extends EventType> {
  readonly raises?: (fact: Fact<T>) => Finding | null;
  /** The alert whose cause is gone now, with how it was at last where the event says so. */
  readonly ends?: (fact: Fact<T>) => Finding | Pick<Finding, "type" | "subject"> | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

const CONFLICTS: Readonly<Record<EventData<"ipam_conflict">["kinds"][number], string>> = {
  wrong_mac: "Another device uses this address", reserved_in_use: "The address is reserved, but a device uses it",
  duplicate_address: "Several devices use this address", outside_prefixes: "No planned prefix contains this address",
};

/** Which events raise which alerts, what identifies an alert, and what ends it. An event that is not listed raises none. */
export const RULES = {
  ids_alert: {
    raises: ({ data }) => (data.state === "ended" ? null : intrusionOf(data)),
    ends: ({ data }) => (data.state === "ended" ? intrusionOf(data) : null),
  },
  honeypot_hit: { raises: ({ data }) => honeypotFinding(data) },
  rogue_detected: {
    raises: ({ data }) => (data.state === "ended" ? null : rogueOf(data)),
    ends: ({ data }) => (data.state === "ended" ? rogueOf(data) : null),
  },
  dns_threat: {
    raises: ({ data }) => (data.state === "ended" ? null : dnsThreatFinding(data)),
    ends: ({ data }) => (data.state === "ended" ? dnsThreatFinding(data) : null),
  },
  baseline_diff_alert: {
    raises: ({ data, deviceId }) => (data.state === "ended" ? null : differenceFinding(data, deviceId)),
    ends: ({ data, deviceId }) => (data.state === "ended" ? { type: `baseline_${data.kind}`, subject: differenceSubject(data, deviceId) } : null),
  },
  anomaly_detected: {
    raises: ({ data }) => (data.is_alert === false ? null : anomalyFinding(data)),
  },
  vuln_state: {
    raises: ({ data, deviceId }) => (data.state === "cleared" ? null : vulnerabilitiesOf(data, deviceId)),
    ends: ({ data, deviceId }) => (data.state === "cleared" ? { type: "vulnerability", subject: words(deviceId ?? data.ip, data.product) } : null),
  },
  config_changed: {
    raises: ({ data }) => ({
      type: "config_changed", source: "config", subject: data.ip || data.hostname, severity: "info",
      title: `The configuration of ${data.hostname || data.ip} changed`,
      description: words(`version ${data.version}: ${data.lines_added} lines added, ${data.lines_removed} removed`, by(data.changed_by)),
      deviceIp: data.ip, quietMs: WEEK_MS, isCapped: true,
    }),
  },
  scan_failed: {
    raises: ({ data }) => ({
      type: "scan_failed", source: "scan", subject: data.target, severity: "low", title: `The scan of ${data.target} failed`,
      description: data.reason,
      quietMs: WEEK_MS, isCapped: true,
    }),
  },
  scan_complete: { ends: ({ data }) => ({ type: "scan_failed", subject: data.target }) },
  probe_health_alert: {
    raises: ({ data, probeId }) => (data.state === "cleared" ? null : {
      type: "probe_health", source: "health", subject: words(probeId ?? "", data.metric), severity: data.severity, title: data.message,
      description: `${data.metric} is ${data.value} ${data.unit}, the threshold is ${data.threshold} ${data.unit}`, quietMs: null,
      isCapped: true,
    }),
    ends: ({ data, probeId }) => (data.state === "cleared" ? { type: "probe_health", subject: words(probeId ?? "", data.metric) } : null),
  },
  probe_silent: {
    raises: ({ data, probeId }) => ({
      type: "probe_silent", source: "health", subject: probeId ?? "", severity: data.clean_stop ? "medium" : "high",
      title: `The probe ${data.name} is silent`, description: data.message, quietMs: null, isCapped: false,
    }),
  },
  probe_returned: { ends: ({ probeId }) => ({ type: "probe_silent", subject: probeId ?? "" }) },
  discovery_storm: {
    raises: ({ data }) => ({
      type: "discovery_storm", source: "rogue", subject: "", severity: "medium", title: "Too many new devices at once",
      description: `${data.message}. A host may be sending from random MAC addresses: find the switch port that most of them come from.`,
      // It is published again with each window, if anything new is found in it.
      quietMs: 2 * data.window_seconds * 1000, isCapped: false,
    }),
  },
  queue_gap: {
    raises: ({ data, probeId }) => ({
      type: "events_lost", source: "health", subject: probeId ?? "", severity: "medium",
      title: `A probe lost ${data.dropped} events`,
      description: `${data.reason}: ${data.message}`, quietMs: WEEK_MS, isCapped: false,
    }),
  },
  error: {
    raises: ({ data, probeId }) => ({
      type: "probe_error", source: "health", subject: words(probeId ?? "", data.code), severity: "low",
      title: `A probe reports ${data.code}`,
      description: data.message, quietMs: DAY_MS, isCapped: true,
    }),
  },
  switch_report: {
    raises: ({ data, probeId }) => (!data.problem ? null : {
      type: "switch_unreadable", source: "health", subject: words(probeId ?? "", data.ip), severity: "low",
      title: `${data.ip} cannot be read by SNMP`,
      description: `${data.problem}. Check its address, its access list and the SNMP credential. Until then its ports and the hosts on them stay unknown.`, deviceIp: data.ip, quietMs: null,
      isCapped: true,
    }),
    ends: ({ data, probeId }) => (!data.problem ? { type: "switch_unreadable", subject: words(probeId ?? "", data.ip) } : null),
  },
  license_state: {
    raises: ({ data }) => (isLicenseWell(data) ? null : {
      type: "license", source: "health", subject: "", severity: data.status === "expired" ? "high" : "medium", title: data.message,
      description: "Nothing stops: an exceeded or expired license only raises this alert. Install a new license.", quietMs: null, isCapped: false,
    }),
    ends: ({ data }) => (isLicenseWell(data) ? { type: "license", subject: "" } : null),
  },
  ipam_conflict: {
    raises: ({ data }) => (data.state === "gone" ? null : {
      type: "ipam_conflict", source: "baseline", subject: data.ip,
      severity: data.kinds.some((kind) => kind === "wrong_mac" || kind === "duplicate_address") ? "medium" : "low",
      title: `${data.ip} is not used as planned`,
      description: words(
        `${data.kinds.map((kind) => CONFLICTS[kind]).join("; ")}.`, data.expected_mac === null ? "" : `Planned for ${data.expected_mac}.`,
        data.observed.length === 0 ? "" : `Seen: ${data.observed.map(({ mac, hostname }) => words(mac, hostname)).join(", ")}.`,
      ),
      deviceIp: data.ip, quietMs: null, isCapped: true,
    }),
    ends: ({ data }) => (data.state === "gone" ? { type: "ipam_conflict", subject: data.ip } : null),
  },
  feed_health: {
    raises: ({ data }) => (data.state === "cleared" ? null : {
      type: "feed", source: "health", subject: data.feed, severity: data.severity, title: `The feed ${data.title} cannot be relied on`,
      description: `${data.message}. The last good data stays in use.`, quietMs: null, isCapped: false,
    }),
    ends: ({ data }) => (data.state === "cleared" ? { type: "feed", subject: data.feed } : null),
  },
  backup_failed: {
    raises: ({ data }) => ({
      type: "backup_failed", source: "health", subject: "", severity: "high", title: "A backup failed", description: data.reason,
      quietMs: null, isCapped: false,
    }),
  },
  backup_downloaded: {
    raises: ({ data }) => ({
      type: "backup_downloaded", source: "health", subject: words(data.backup_id, data.downloaded_by), severity: "medium",
      title: `${data.downloaded_by} downloaded a backup of the whole deployment`,
      description: `From ${data.address}. If this was not planned, change that user's password and check who has the private keys of the backups.`,
      quietMs: WEEK_MS, isCapped: false,
    }),
  },
  backup_completed: { ends: () => ({ type: "backup_failed", subject: "" }) },
} as const satisfies { readonly [T in EventType]?: Rule<T> };

/** Events of which a rule speaks. */
export type AlertingType = keyof typeof RULES;
/** All types of events that have a rule; the others never reach the alerts. */
export const ALERTING_TYPES = Object.keys(RULES) as readonly AlertingType[];

function rogueOf(data: EventData<"rogue_detected">): Finding {
  const { type, title, techniques } = ROGUES[data.kind];
  return {
    type, source: "rogue", subject: rogueSubject(data), severity: data.severity, title: words(title, data.ip), description: data.detail,
    deviceIp: data.ip, techniques, quietMs: DAY_MS, isCapped: true,
    ...(data.count !== undefined && data.since !== undefined && { seen: { times: data.count, since: data.since } }),
    ...(data.incident_id !== undefined && { incidentId: data.incident_id }),
  };
}

/** One for each rule and host of the site, whoever found it. */
function intrusionOf(data: EventData<"ids_alert">): Finding {
  const { source_ip: source, destination_ip: destination, subject_ip: subject = source, fields = {} } = data;
  const said = fields["hostname"] ?? fields["sni"] ?? fields["query"];
  return {
    type: "ids_alert", source: "ids", subject: `${(data.gid ?? 1) === 1 ? "" : `${data.gid}:`}${data.signature_id} ${subject}`, severity: data.severity,
    title: data.signature,
    description: words(`${data.category}:`, data.protocol, end(source, data.source_port), "to", end(destination, data.destination_port), said === undefined ? "" : `(${said})`),
    deviceIp: subject, techniques: data.mitre_techniques, quietMs: null, isCapped: true,
    ...(data.count !== undefined && data.since !== undefined && { seen: { times: data.count, since: data.since } }),
    ...(data.incident_id !== undefined && { incidentId: data.incident_id }),
  };
}

function vulnerabilitiesOf(data: EventData<"vuln_state">, deviceId: string | null): Finding {
  const { count, known_exploited: exploited, cves, product, ip } = data;
  const others = count - cves.length;
  return {
    type: "vulnerability", source: "cve", subject: words(deviceId ?? ip, product), severity: data.severity,
    title: words(product, ip && `on ${ip}`, count === 1 ? `has a known vulnerability: ${cves[0]?.cve_id ?? ""}` : `has ${count} known vulnerabilities`),
    description: words(
      exploited === 0 ? "" : `${exploited === 1 ? "One is" : `${exploited} are`} known to be exploited: update first.`,
      `${cves.map(({ cve_id: id, cvss_score: score }) => (score === null ? id : `${id} (${score.toFixed(1)})`)).join(", ")}${others > 0 ? `, and ${others} more` : ""}.`,
    ),
    deviceIp: ip, techniques: data.mitre_techniques, quietMs: null, isCapped: true, state: { count },
  };
}

function isLicenseWell({ status, exceeded }: EventData<"license_state">): boolean {
  return (status === "valid" || status === "community") && exceeded.length === 0;
}

function end(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function by(person: string): string {
  return person && `by ${person}`;
}

function words(...parts: readonly string[]): string {
  return parts.filter(Boolean).join(" ");
}
