import type { EventData, WebhookEvent } from "@lanthorn/contract";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-01-01T12:00:00.000Z";
const IP = "192.0.2.21";
const MAC = "00:00:5e:00:53:21";
const ALERT = { alert_id: ID, title: "A test alert", severity: "info", device_ip: IP, type: "test", source: "config" } as const;
const SCAN = { scan_id: ID, target: "192.0.2.0/24", profile: "discovery" } as const;

/** Data of the right shape for a test of each webhook event; addresses and MACs are those kept for documentation. */
export const SAMPLE_EVENTS: { readonly [E in WebhookEvent]: object } = {
  "alert.created": ALERT satisfies EventData<"alert_created">,
  "alert.resolved": { ...ALERT, resolved_by: "test" } satisfies EventData<"alert_resolved">,
  "scan.started": { ...SCAN, hosts_total: 254 } satisfies EventData<"scan_started">,
  "scan.completed": { ...SCAN, hosts_total: 254, hosts_up: 12, ports_open: 30, duration_seconds: 4.2 } satisfies EventData<"scan_complete">,
  "scan.failed": { ...SCAN, reason: "a test" } satisfies EventData<"scan_failed">,
  "device.discovered": { ip: IP, mac: MAC, hostname: "test", vendor: "", addresses: [IP], evidence: [] } satisfies EventData<"host_found">,
  "device.offline": { ip: IP, mac: MAC, last_seen_at: AT, missed_checks: 3 } satisfies EventData<"host_offline">,
  "ids.alert": {
    signature_id: 1, revision: 1, signature: "A test signature", category: "test", severity: "info", source_ip: IP, source_port: 40_000,
    destination_ip: "192.0.2.1",
    destination_port: 80, protocol: "tcp", mitre_techniques: [], packets: [],
  } satisfies EventData<"ids_alert">,
  "honeypot.hit": {
    service: "ssh", stage: "touch", severity: "info", source_ip: IP, source_mac: MAC, source_port: 40_000, destination_port: 22,
    username: "", detail: "a test",
  } satisfies EventData<"honeypot_hit">,
  "rogue.detected": {
    kind: "dhcp_server", severity: "info", ip: IP, mac: MAC, expected_macs: [], vlan_id: null, detail: "a test", packets: [],
  } satisfies EventData<"rogue_detected">,
  "cve.matched": {
    cve_id: "CVE-1999-0001", ip: IP, severity: "info", cvss_score: null, known_exploited: false, matched_service: "test", matched_port: 80,
    cpe: "",
  } satisfies EventData<"vuln_found">,
  "backup.completed": { backup_id: ID, size_bytes: 0, duration_seconds: 0 } satisfies EventData<"backup_completed">,
  "backup.failed": { backup_id: ID, reason: "a test" } satisfies EventData<"backup_failed">,
  "anomaly.detected": {
    metric: "test", ip: IP, mac: MAC, score: 0, expected: 0, observed: 0, severity: "info", explanation: "a test",
  } satisfies EventData<"anomaly_detected">,
};
