/** What devices did that is not usual for them. */
export interface AnomalyTables {
  anomalies: {
    id: string; tenant_id: string; site_id: string; probe_id: string | null;
    /** The probe's id of it; the row's own where the event has none. */
    incident_id: string;
    device_id: string | null; kind: string;
    /** The device's name at the probe, and its group's; "" for none. */
    device: string; device_group: string; ip: string; mac: string; severity: string; is_alert: number;
    /** By which feedback it is normal. */
    feedback_id: string | null; found_at: string;
    /** The event's data, as JSON. */
    data: string;
  };
  /** What people said is normal: of a device, or of a group. */
  anomaly_feedback: {
    id: string; tenant_id: string; site_id: string; kind: string; device: string | null; device_group: string | null; reason: string; created_by: string; created_at: string;
    expires_at: string | null;
  };
}
