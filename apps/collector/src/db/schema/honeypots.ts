/** Decoys: what they saw, who may touch them, and what was tried. */
export interface HoneypotTables {
  /** `key` is of the probe and its incident; `services`, `usernames` and `mitre_techniques` are JSON lists. */
  honeypot_sessions: {
    id: string; key: string; tenant_id: string; site_id: string; probe_id: string; decoy: string; device_id: string | null; source_ip: string; source_mac: string; destination_ip: string;
    stage: string; severity: string; services: string; usernames: string; connections: number; credentials: number; mitre_techniques: string; detail: string; is_test: number;
    started_at: string; last_at: string;
  };
  /** Each rise of a session. */
  honeypot_rungs: {
    session_id: string; stage: string; at: string; event_id: string; service: string; source_port: number; destination_port: number; username: string; detail: string;
  };
  /** `addresses` and `ports` are JSON lists. */
  honeypot_exemptions: {
    id: string; tenant_id: string; site_id: string; name: string; addresses: string; ports: string; hours: string | null; reason: string; created_by: string; created_at: string;
    expires_at: string | null;
  };
  /** `session_key` is the `key` of its session, which may be forgotten before it. */
  honeypot_credentials: {
    id: string; tenant_id: string; site_id: string; session_key: string; decoy: string; service: string; username: string; password_sealed: string; is_bait: number; tried_at: string;
  };
  /** `key` is of the report and its place in it; `kind` is `transcript`, `file`, `hassh`, `ja4` or `software`; `value` is the transcript, a file's SHA-256, or the fingerprint. */
  honeypot_evidence: {
    id: string; key: string; tenant_id: string; site_id: string; session_key: string; kind: string; service: string; recorded_at: string; name: string; value: string; octets: number; is_kept: number;
  };
  /** Addresses of decoys, as the probe beside them reports them; `ip_key` as of `addresses`. A device that had the address before `settled_before` keeps it. */
  honeypot_addresses: { probe_id: string; ip: string; ip_key: string; tenant_id: string; site_id: string; decoy: string; settled_before: string; reported_at: string };
  /** The last test of each decoy. */
  honeypot_tests: {
    honeypot_id: string; tenant_id: string; site_id: string; probe_id: string; command_id: string; asked_at: string; asked_by: string; answer_by: string; status: string; error: string | null;
    /** The `key` of the session that the decoy reported. */
    session_key: string | null;
  };
}
