import type { Generated } from "kysely";

/**
 * Rows as they lie in the database. Every moment is ISO 8601 text in UTC, which sorts by time in SQLite and PostgreSQL
 * alike; truths are 0 and 1; lists and objects are JSON text. Every table of a tenant's has `tenant_id`.
 */
export interface Schema {
  tenants: {
    id: string; name: string; created_at: string; last_event_seq: Generated<number>;
    /** What the tenant's events take, kept by the log for its retention. */
    event_bytes: Generated<number>;
    /** Rises with every change of which webhooks take which events, so that whoever remembers them knows when to look again. */
    webhooks_revision: Generated<number>;
  };
  sites: {
    id: string; tenant_id: string; name: string; created_at: string;
    /** What its probes are told: `sweep` and `excluded` of the contract's ProbeConfiguration. */
    probe_configuration: string;
    configuration_revision: Generated<number>;
    /** A list of networks that may be scanned beyond the probes' own subnets. */
    scan_networks: Generated<string>;
  };
  users: {
    id: string; tenant_id: string; username: string; password_hash: string; role: string; created_at: string;
    /** Tokens issued before this moment are refused: logout of all, password change. */
    tokens_valid_from: string;
    email: string | null; last_login_at: string | null;
  };
  revoked_tokens: { jti: string; tenant_id: string; expires_at: string };
  api_keys: {
    id: string; tenant_id: string;
    /** Its maker, with whom it goes, and whose scopes bound its own. */
    user_id: string;
    name: string; secret_sha256: string; hint: string;
    /** A JSON list. */
    scopes: string;
    created_at: string; expires_at: string | null; last_used_at: string | null;
  };
  /** Each opens one stream for the bearer of the token or key that it was made with. */
  stream_tickets: {
    secret_sha256: string; tenant_id: string; user_id: string; key_id: string | null; token_id: string; token_issued_at: string;
    token_expires_at: string | null; expires_at: string;
  };
  /** `failed_at` is a JSON list of milliseconds since the epoch. What is typed as a user name is sometimes a password, so it is hashed. */
  login_failures: { username_sha256: string; address: string; failed_at: string; updated_at: string };
  enrollment_tokens: {
    id: string; tenant_id: string; site_id: string; secret_sha256: string; created_by: string; created_at: string; expires_at: string;
    used_at: string | null; probe_id: string | null;
  };
  probes: {
    id: string; tenant_id: string; site_id: string; name: string; enrolled_at: string; revoked_at: string | null;
    certificate_serial: string; certificate_expires_at: string; version: string;
    /** `enrolled` until first heard, then `online` or `silent`. */
    state: string;
    silent_since: string | null; last_heard_at: string | null; run_id: string | null; health: string | null; refused: Generated<string>;
    /** SubjectPublicKeyInfo in Base64 of its certificate's key, and of the one with which it asked for that; null before any. */
    public_key: Generated<string | null>; previous_public_key: Generated<string | null>;
    /** What this probe alone is told, over what its site's settings say. */
    settings: Generated<string>;
    /** With its site's, the revision of what it is told. */
    configuration_revision: Generated<number>;
  };
  /** How a probe was, every few minutes. */
  probe_health: { probe_id: string; at: string; tenant_id: string; health: string };
  /** How far each queue file of a probe is committed. */
  probe_queues: { probe_id: string; queue_id: string; tenant_id: string; watermark: number; updated_at: string };
  devices: {
    id: string; tenant_id: string; site_id: string;
    ip: string;
    /** `ip` in a spelling that sorts by number: see `addressKey`. */
    ip_key: string;
    /** MAC of the interface that has `ip`. */
    mac: string;
    hostname: string; vendor: string; os_guess: string; device_type: string;
    is_online: number; presence_state: string; first_seen: string; last_seen: string;
    open_ports: string; tags: string; locked_fields: string;
    /** How many interfaces it has, where that is more than one. */
    mac_count: Generated<number>;
    /** What its evidence comes to, as JSON: see `readVerdicts`. */
    verdicts: Generated<string>;
  };
  /** How many devices there are of each kind; triggers keep it. */
  device_counts: { tenant_id: string; site_id: string; is_online: number; devices: number };
  interfaces: {
    device_id: string; tenant_id: string; site_id: string; mac: string; vendor: string; first_seen: string;
    /** How the interface is, where its device has others; that of a device with one interface is in the device's row. */
    presence_state: Generated<string>;
  };
  addresses: {
    device_id: string; tenant_id: string; site_id: string; mac: string; ip: string; ip_key: string;
    first_seen: string; last_seen: string; current: number;
  };
  ports: {
    device_id: string; tenant_id: string; port: number; protocol: string; state: string; service: string; version: string;
    banner: string; last_scanned: string;
  };
  device_changes: {
    id: string; device_id: string; tenant_id: string; at: string; field: string; before: string; after: string; source: string;
  };
  evidence: { device_id: string; tenant_id: string; field: string; value: string; source: string; confidence: number; seen_at: string };
  /** The one ordered log of each tenant. `type` is a key of the contract's EVENTS. */
  events: {
    tenant_id: string; seq: number; id: string; type: string; site_id: string | null; probe_id: string | null; device_id: string | null;
    queue_id: string | null; probe_seq: number | null; occurred_at: string; received_at: string; data: string;
  };
  /** Events that a probe sent and this collector could not read, kept as they came so that nothing is lost. */
  rejected_events: {
    probe_id: string; queue_id: string; probe_seq: number; tenant_id: string; received_at: string; reason: string; payload: string;
  };
  /** Every write through the API. `before` and `after` are JSON objects without secrets. */
  audit: {
    id: string; tenant_id: string; at: string; actor_type: string; actor_id: string; actor_name: string; address: string;
    action: string; target_type: string; target_id: string; before: string | null; after: string | null;
  };
  webhooks: {
    id: string; tenant_id: string; url: string; events: string; active: number; status: string; failing_since: string | null;
    /** Sealed with the collector's own key: see `createSealing`. */
    secret_sealed: string; secret_hint: string; previous_secret_sealed: string | null; previous_secret_until: string | null;
    created_at: string; last_delivery_at: string | null;
    /** The delivery worker that sends to it, and no other may. */
    worker_id: string | null;
  };
  /** One event on its way to one webhook, or what became of it. Its payload is the event in the log. */
  webhook_deliveries: {
    webhook_id: string; id: string; tenant_id: string; event_id: string; event: string;
    /** Its place in the tenant's log; 0 for a test, which is not in it. */
    event_seq: number;
    /** `live` before a new event's first attempt, `retry` after it, `replay` for what was asked for again; null when it is done. */
    lane: string | null;
    status: string; attempt: number; requested_at: string | null; status_code: number | null; response_time_ms: number | null;
    error: string | null;
    response_excerpt: string | null;
    /** Every attempt's result as a JSON array. */
    attempts: string;
    created_at: string;
    /** When the next attempt is due, in the lane `retry` only. */
    retry_at: string | null;
  };
  /** The processes that deliver. One whose `beats` stand still is dead. */
  delivery_workers: { id: string; beats: number };
  /** E-mails about webhooks, on their way or not. */
  webhook_notices: {
    id: string; tenant_id: string; webhook_id: string; kind: string; detail: string; status: string; attempt: number;
    next_attempt_at: string | null; error: string | null; created_at: string;
  };
  /** What names a device beyond its interfaces: see `keyText`. Two devices have one only where they were kept apart. */
  device_keys: { device_id: string; tenant_id: string; site_id: string; key: string; source: string; first_seen: string };
  /** Devices that were found to be one. A device that is not there any more is found by `merged_id`. */
  device_merges: {
    id: string; tenant_id: string; site_id: string; kept_id: string; merged_id: string; at: string;
    by_type: string; by_id: string; by_name: string; reasons: string;
    /** What is needed to undo it, as JSON; null for an interface that a person took away from a device, which was never a device. */
    snapshot: string | null;
    /** From then on the two are kept apart. */
    undone_at: string | null;
  };
  /** Requests that came with an `Idempotency-Key`, for a day. `answer` is sealed; null while the request is under way. */
  idempotency_keys: {
    tenant_id: string; caller: string; key_sha256: string; fingerprint: string;
    /** Whoever is doing it, until `leased_until`. */
    run_id: string; leased_until: string;
    expires_at: string; answer: string | null;
  };
  /** Who announces itself on a probe's link, each protocol for itself; `data` is the event that told of it, `key` its place in it. */
  neighbors: {
    probe_id: string; key: string; tenant_id: string; site_id: string; data: string; first_seen: string; last_seen: string;
    /** 0 once it was silent for its time to live, or said that it goes. */
    current: number;
  };
  switch_reports: {
    probe_id: string; ip: string; tenant_id: string; site_id: string; data: string; first_seen: string; last_seen: string;
    /** 0 once it does not answer any more. */
    current: number;
  };
  alerts: {
    id: string; tenant_id: string; site_id: string | null; device_id: string | null; device_ip: string; probe_id: string | null;
    source: string; type: string; subject: string;
    /** Names what it is about while it is not resolved, and is then null: no two open alerts have the same. */
    open_key: string | null;
    severity: string;
    /** Higher is graver. */
    severity_rank: number;
    title: string; description: string; status: string; count: number; first_seen: string; last_seen: string;
    evidence: string; mitre_techniques: string;
    /** Whether `alert_created` was appended for it. */
    notified: number;
    /** When it resolves by itself if it is not seen again; null where only its cause's end or a person ends it. */
    quiet_at: string | null;
    acknowledged_by: string | null; acknowledged_at: string | null; resolved_by: string | null; resolved_at: string | null;
  };
  alert_mutes: {
    id: string; tenant_id: string; source: string | null; type: string | null; subject: string | null; site_id: string | null;
    reason: string; created_by: string; created_at: string; expires_at: string;
  };
  scans: {
    id: string; tenant_id: string; site_id: string; probe_id: string;
    /** The first and the last address of `target`, as `addressKey` spells them. */
    target: string; target_first: string; target_last: string;
    profile: string; status: string; progress: number; requested_by: string;
    created_at: string; started_at: string | null; finished_at: string | null;
    hosts_total: number; hosts_up: number; ports_open: number; error: string | null;
    /** The collector took it for failed without a word of the probe, whose word still counts. */
    presumed: number;
    command_id: string;
    /** The command that ends it, until the probe has answered that. */
    cancel_command_id: string | null;
    /** The probe's run in which it was asked for. */
    run_id: string | null;
    /** When the probe must have answered. */
    answer_by: string;
    /** When something was last heard of it. */
    heard_at: string;
    /** When its probe was seen in another run. */
    orphaned_at: string | null;
    /** A list in JSON. */
    remarks: Generated<string>;
  };
  ipam_prefixes: {
    id: string; tenant_id: string; site_id: string | null;
    /** The site's id, or empty: of what is unique, null would be like nothing else. */
    scope: string;
    prefix: string;
    /** Its first and last address, as `addressKey` spells them. */
    first_key: string; last_key: string;
    /** `first_key` and the length, so that texts sort as prefixes do. */
    sort_key: string;
    length: number; family: number; vlan_id: number | null; name: string; description: string; status: string; created_at: string;
    updated_at: string;
  };
  ipam_addresses: {
    id: string; tenant_id: string; site_id: string | null; scope: string; ip: string; ip_key: string; family: number; status: string;
    mac: string | null; hostname: string; description: string; created_at: string; updated_at: string;
  };
  /** Of the whole deployment; `tenant_id` is the operator's. */
  backups: {
    id: string; tenant_id: string; status: string;
    /** The same for all that are running, so that there is one at most. */
    running_key: string | null;
    trigger: string; requested_by: string; created_at: string;
    /** When whoever makes it last said so. */
    heard_at: string;
    finished_at: string | null; engine: string; version: string;
    /** A JSON list of public keys. */
    recipients: string;
    file_name: string; size_bytes: number | null; sha256: string | null; table_count: number | null; row_count: number | null;
    error: string | null;
    /** The contract's `verification`; `verified_at` is when it began while it runs. */
    verify_status: string | null; verify_method: string | null; verify_error: string | null; verified_at: string | null;
  };
  /** Of an address at a site; `kinds` with commas. `told` is 0 until a second look finds it too. */
  ipam_conflicts: { tenant_id: string; site_id: string; ip_key: string; kinds: string; told: number };
  /** What people have set: one row at most. `recipients` is a JSON list; null where nothing was set, or nothing is scheduled. */
  backup_settings: {
    id: string; schedule: string | null; keep: number | null; recipients: string | null; scheduled_at: string | null; updated_at: string;
    updated_by: string;
  };
  scan_hosts: { scan_id: string; tenant_id: string; ip: string; ip_key: string; mac: string; seen_at: string; port_counts: string | null };
  scan_ports: {
    scan_id: string; tenant_id: string; ip_key: string; port: number; protocol: string; state: string;
    service: string; version: string; banner: string;
  };
  /** A tenant's licence as it was uploaded, and which of its states was told last. */
  licenses: { tenant_id: string; license: string; told: string; uploaded_at: string; uploaded_by: string };
  /** What probes log in to devices with. `settings` is no secret; `secret_sealed` is an object in JSON, sealed. */
  credentials: {
    id: string; tenant_id: string; name: string; type: string; settings: string; networks: string; secret_sealed: string;
    created_at: string; updated_at: string;
  };
  /** Whom a credential is handed to: the probes of a site, or one probe. */
  credential_assignments: { credential_id: string; tenant_id: string; site_id: string | null; probe_id: string | null };
  /** Running configurations of network devices. `content_sealed` is the text, compressed and sealed. */
  config_versions: {
    id: string; tenant_id: string; device_id: string; version: number; content_sealed: string; size_bytes: number; lines: number;
    lines_added: number; lines_removed: number; changed_by: string; comment: string; captured_at: string; created_at: string;
  };
  /** Duties that one process of several has: `beats` rise while the holder lives. */
  leases: { name: string; holder: string; beats: number };
  /** What the deployment has made for itself, sealed: see `secretsInDatabase`. */
  kept_secrets: { id: string; content_sealed: string };
  /** When each caller has asked in the last minute, as a JSON list of milliseconds since the epoch: see `createSharedRateLimiter`. */
  request_times: { caller: string; times: string; updated_at: number };
}
