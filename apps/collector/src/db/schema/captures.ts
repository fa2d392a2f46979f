/** Captures of packets. */
export interface CaptureTables {
  /** `key_sealed`: the key of the file's content, sealed; null where no file is here. Lists and objects are JSON text, flags 0 or 1. */
  pcaps: {
    id: string; tenant_id: string; site_id: string; probe_id: string; trigger: string; state: string; detail: string; is_cut: number;
    file_name: string; size_bytes: number;
    /** Empty before the file is whole. */
    sha256: string;
    packets: number; started_at: string | null; finished_at: string | null; interfaces: string; filter: string; snap_length: number;
    headers_only: number; counters: string; alert_ids: string; macs: string; ips: string; summary: string | null; limits: string | null;
    requested_by: string | null;
    /** When it began, never after we knew of it: the order of lists. */
    happened_at: string;
    created_at: string; updated_at: string; locked_by: string | null; locked_at: string | null; lock_reason: string | null;
    stored_at: string | null; stored_bytes: number; key_sealed: string | null;
    /** Deleted by a person: kept for a while, so that the probe hears of it and cannot bring it back. */
    deleted_at: string | null; deletion_heard: number;
  };
  /** What a capture is found by: `kind` is `alert`, `mac` or `ip`. */
  pcap_links: { pcap_id: string; tenant_id: string; kind: string; value: string };
  /** How many captures a probe has reported within a day, how often it has said more of those that were known, and how many reports were refused in all. */
  pcap_quotas: {
    probe_id: string; tenant_id: string; day_began_at: string; day_records: number; day_updates: number; refused: number; reported_at: string | null;
  };
  /** JSON text of a site's `CaptureSettings`. */
  capture_settings: { site_id: string; tenant_id: string; settings: string };
  /** Commands whose reply somebody waits for; `reply` is JSON text. */
  pcap_commands: { id: string; tenant_id: string; probe_id: string; expires_at: string; reply: string | null };
  /** Live views that go on. */
  pcap_watches: {
    id: string; tenant_id: string; site_id: string; probe_id: string; actor_id: string; interface: string | null; filter: string;
    snap_length: number; used_at: string;
  };
}
