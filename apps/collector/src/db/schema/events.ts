import type { Generated } from "kysely";

/** The event log, the alerts that it raises and the deliveries that go out. */
export interface EventTables {
  /** The one ordered log of each tenant. `type` is a key of the contract's EVENTS. */
  events: {
    tenant_id: string; seq: number; id: string; type: string; site_id: string | null; probe_id: string | null; device_id: string | null;
    queue_id: string | null; probe_seq: number | null; occurred_at: string; received_at: string; data: string;
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
    /** When the first event that was not late was received; null while there was none. */
    live_at: Generated<string | null>;
    /** Probes that report its cause now, and what each has counted: JSON, by their ids. Only where events say when the cause is gone. */
    reporters: Generated<string>;
    /** When it resolves by itself if it is not seen again; null where only its cause's end or a person ends it. */
    quiet_at: string | null;
    acknowledged_by: string | null; acknowledged_at: string | null; resolved_by: string | null; resolved_at: string | null;
  };
  /** What people did with alerts: one of `AlertAction` each. */
  alert_actions: { id: string; alert_id: string; action: string; at: string; by_name: string; note: string; muted_until: string | null };
  alert_mutes: {
    id: string; tenant_id: string; source: string | null; type: string | null; subject: string | null; site_id: string | null;
    reason: string; created_by: string; created_at: string; expires_at: string;
  };
}
