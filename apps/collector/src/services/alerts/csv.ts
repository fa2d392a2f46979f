import type { Alert } from "@lanthorn/contract";
import type { CsvColumns } from "../../gateway/csv/csv.ts";

/** The export of alerts. Null is empty; techniques are joined with spaces. Evidence stays in the alert's own record. */
export const ALERT_COLUMNS: CsvColumns<Alert> = {
  id: (alert) => alert.id,
  severity: (alert) => alert.severity,
  status: (alert) => alert.status,
  source: (alert) => alert.source,
  type: (alert) => alert.type,
  title: (alert) => alert.title,
  description: (alert) => alert.description,
  subject: (alert) => alert.subject,
  device_ip: (alert) => alert.device_ip,
  device_id: (alert) => alert.device_id ?? "",
  site_id: (alert) => alert.site_id ?? "",
  probe_id: (alert) => alert.probe_id ?? "",
  count: (alert) => String(alert.count),
  first_seen: (alert) => alert.first_seen,
  last_seen: (alert) => alert.last_seen,
  mitre_techniques: (alert) => alert.mitre_techniques.join(" "),
  muted: (alert) => String(alert.muted),
  acknowledged_by: (alert) => alert.acknowledged_by ?? "",
  acknowledged_at: (alert) => alert.acknowledged_at ?? "",
  resolved_by: (alert) => alert.resolved_by ?? "",
  resolved_at: (alert) => alert.resolved_at ?? "",
};
