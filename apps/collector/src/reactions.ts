import type { EventType, ProbeEventType } from "@lanthorn/contract";
import type { Reaction } from "./events/reaction.ts";
import { dnsQueries } from "./ingest/projections/dns-queries.ts";
import { honeypotCredentials } from "./ingest/projections/honeypot-credentials.ts";
import { honeypotEvidence } from "./ingest/projections/honeypot-evidence.ts";
import { hostChanged, hostFound } from "./ingest/projections/host-state.ts";
import { hostSoftware } from "./ingest/projections/host-software.ts";
import { logOnly } from "./ingest/projections/log-only.ts";
import { neighborDiscovered } from "./ingest/projections/neighbor.ts";
import { portFound } from "./ingest/projections/port-found.ts";
import { hostOffline, hostOnline, presenceReport } from "./ingest/projections/presence.ts";
import type { Projection } from "./ingest/projections/projection.ts";
import { switchReport } from "./ingest/projections/switch-report.ts";

/** Who reacts to events after they were appended, in the order in which they run. */
export const REACTION_ORDER = ["intrusions", "anomalies", "honeypots", "alerts", "neighbors", "switches", "scans", "pcaps", "queries", "deliveries"] as const;

type ReactionName = (typeof REACTION_ORDER)[number];

/** Those of the probe change the devices of its site first, in ingest's transaction, which says what is appended. */
type Row<T extends EventType> = { readonly reactions: readonly ReactionName[] } & (
  T extends ProbeEventType ? { readonly projection: Projection<T> } : { readonly projection?: never }
);

/**
 * Which event changes what, all in the transaction that writes it: its projection on devices, then its reactions. What is not here
 * happens by no event. A service that reacts to more adds itself to the rows, its types to its `Reaction`, and nothing else.
 */
export const REACTIONS = {
  host_found: { projection: hostFound, reactions: ["deliveries"] },
  host_changed: { projection: hostChanged, reactions: [] },
  host_online: { projection: hostOnline, reactions: [] },
  host_offline: { projection: hostOffline, reactions: ["deliveries"] },
  presence_report: { projection: presenceReport, reactions: [] },
  port_found: { projection: portFound, reactions: ["scans"] },
  host_software: { projection: hostSoftware, reactions: [] },
  scan_started: { projection: logOnly(), reactions: ["scans", "deliveries"] },
  scan_progress: { projection: logOnly(), reactions: ["scans"] },
  scan_results: { projection: logOnly(), reactions: ["scans"] },
  scan_remark: { projection: logOnly(({ data }) => data), reactions: ["scans"] },
  scan_complete: { projection: logOnly(), reactions: ["alerts", "scans", "deliveries"] },
  scan_failed: { projection: logOnly(), reactions: ["alerts", "scans", "deliveries"] },
  scan_cancelled: { projection: logOnly(), reactions: ["scans"] },
  neighbor_discovered: { projection: neighborDiscovered, reactions: ["neighbors"] },
  neighbor_lost: { projection: logOnly(), reactions: ["neighbors"] },
  neighbor_report: { projection: logOnly(), reactions: ["neighbors"] },
  switch_report: { projection: switchReport, reactions: ["alerts", "switches"] },
  config_changed: { reactions: ["alerts"] },
  baseline_diff_alert: { reactions: ["alerts"] },
  anomaly_detected: { projection: logOnly(({ data }) => ({ ip: data.ip, mac: data.mac })), reactions: ["anomalies", "alerts", "deliveries"] },
  ids_alert: { projection: logOnly(({ data }) => ({ ip: data.subject_ip ?? data.source_ip })), reactions: ["intrusions", "alerts", "deliveries"] },
  honeypot_hit: {
    projection: logOnly(({ data }) => ({ ip: data.source_ip, mac: data.source_mac })), reactions: ["honeypots", "alerts", "deliveries"],
  },
  honeypot_credentials: { projection: honeypotCredentials, reactions: ["honeypots"] },
  honeypot_evidence: { projection: honeypotEvidence, reactions: ["honeypots"] },
  rogue_detected: { projection: logOnly(({ data }) => data), reactions: ["alerts", "deliveries"] },
  dns_threat: { projection: logOnly(({ data }) => ({ ip: data.client_ip, mac: data.client_mac })), reactions: ["alerts"] },
  dns_queries: { projection: dnsQueries, reactions: ["queries"] },
  pcap_recorded: { projection: logOnly(), reactions: ["pcaps"] },
  pcap_ready: { reactions: [] },
  vuln_found: { reactions: ["deliveries"] },
  vuln_state: { reactions: ["alerts"] },
  probe_health_alert: { projection: logOnly(), reactions: ["alerts"] },
  error: { projection: logOnly(), reactions: ["alerts"] },
  queue_gap: { projection: logOnly(), reactions: ["alerts"] },
  probe_silent: { reactions: ["alerts"] },
  probe_returned: { reactions: ["alerts"] },
  discovery_storm: { reactions: ["alerts"] },
  alert_created: { reactions: ["deliveries"] },
  alert_resolved: { reactions: ["deliveries"] },
  backup_completed: { reactions: ["alerts", "deliveries"] },
  backup_downloaded: { reactions: ["alerts"] },
  license_state: { reactions: ["alerts"] },
  ipam_conflict: { reactions: ["alerts"] },
  feed_update: { reactions: [] },
  feed_health: { reactions: ["alerts"] },
  backup_failed: { reactions: ["alerts", "deliveries"] },
} as const satisfies { readonly [T in EventType]: Row<T> };

/** The event types in whose rows a reaction is. */
type TypesOf<N extends ReactionName> = {
  [T in EventType]: N extends (typeof REACTIONS)[T]["reactions"][number] ? T : never;
}[EventType];

/** Each reaction by its name. One that knows fewer or more types than the table says does not compile. */
export type ServiceReactions = { readonly [N in ReactionName]: Reaction<TypesOf<N>> };
