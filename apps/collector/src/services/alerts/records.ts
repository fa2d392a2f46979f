import type { Alert, AlertAction, AlertEvidence, AlertFacets, AlertMute } from "@lanthorn/contract";
import type { ActionRow } from "./actions-store.ts";
import { guideOf } from "./reaction/rogues.ts";
import type { AlertRow } from "./reaction/store.ts";
import { isMuted, type MuteRow } from "./reaction/mutes.ts";
import type { AlertsStore } from "./store.ts";

/** An alert's row as the API shows it. @param mutes Those that count now. */
export function toAlert(row: AlertRow, mutes: readonly MuteRow[]): Alert {
  return {
    id: row.id, tenant_id: row.tenant_id, site_id: row.site_id, device_id: row.device_id, device_ip: row.device_ip, probe_id: row.probe_id,
    source: row.source as Alert["source"], type: row.type, subject: row.subject, severity: row.severity as Alert["severity"],
    title: row.title,
    description: row.description, guide: guideOf(row), status: row.status as Alert["status"], count: row.count, first_seen: row.first_seen,
    last_seen: row.last_seen,
    evidence: JSON.parse(row.evidence) as AlertEvidence[], mitre_techniques: JSON.parse(row.mitre_techniques) as string[],
    muted: isMuted(mutes, row), notified: row.notified === 1, acknowledged_by: row.acknowledged_by, acknowledged_at: row.acknowledged_at,
    resolved_by: row.resolved_by, resolved_at: row.resolved_at,
  };
}

/** Without the bytes of packets: a page of a thousand alerts would be tens of megabytes of them. */
export function toListedAlert(row: AlertRow, mutes: readonly MuteRow[]): Alert {
  const alert = toAlert(row, mutes);
  const evidence = alert.evidence.map((entry) => {
    const { packets: _, ...data } = entry.data;
    return { ...entry, data };
  });
  return { ...alert, evidence };
}

/** A mute as the API shows it, without its tenant. */
export function toMute(row: MuteRow): AlertMute {
  const { tenant_id: _, source, ...mute } = row;
  return { ...mute, source: source as AlertMute["source"] };
}

/** What somebody did with an alert, as the API shows it. */
export function toAction({ id, action, at, by_name: by, note, muted_until }: ActionRow): AlertAction {
  return { id, action: action as AlertAction["action"], at, by, note, muted_until };
}

/** How often values occur, as the API shows it. */
export function toFacets({ total, severity, status, source, type, site_id, device_id }: Awaited<ReturnType<AlertsStore["countFacets"]>>): AlertFacets {
  return {
    total, severity: [...severity], status: [...status], source: [...source], type: [...type], site_id: [...site_id], device_id: [...device_id],
  };
}
