import * as z from "zod";
import { Id, Instant, Severity } from "../values.ts";
import { listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";

/** What raised an alert. */
export const ALERT_SOURCES = ["ids", "honeypot", "rogue", "baseline", "anomaly", "cve", "health", "dns", "config", "scan"] as const;
export const AlertSource = z.enum(ALERT_SOURCES);
export type AlertSource = z.infer<typeof AlertSource>;

export const ALERT_STATUSES = ["open", "acknowledged", "resolved"] as const;
export const AlertStatus = z.enum(ALERT_STATUSES);
export type AlertStatus = z.infer<typeof AlertStatus>;

/** An event behind an alert. The bytes of packets are in `data.packets` of the first one only, and not in lists. */
export const AlertEvidence = z.object({ event_id: Id, event: z.string(), occurred_at: Instant, data: z.record(z.string(), z.unknown()) });
export type AlertEvidence = z.infer<typeof AlertEvidence>;

/**
 * Something that a person should know of. While one is not resolved, the same again (`type`, site, `subject`) raises `count`
 * and `last_seen`, and `severity` where it is graver; it makes no second alert.
 */
export const Alert = z.object({
  id: Id,
  tenant_id: Id,
  site_id: Id.nullable(),
  device_id: Id.nullable(),
  /** As it was when the alert was raised; empty where no one address is meant. */
  device_ip: z.string(),
  probe_id: Id.nullable(),
  source: AlertSource,
  type: z.string(),
  /** What the alert is about, among those of its type at its site. */
  subject: z.string(),
  severity: Severity,
  title: z.string(),
  description: z.string(),
  status: AlertStatus,
  count: z.int().min(1),
  first_seen: Instant,
  last_seen: Instant,
  /** The first event and the last ones, at most five. */
  evidence: z.array(AlertEvidence),
  mitre_techniques: z.array(z.string()),
  /** Whether a mute covers it now. */
  muted: z.boolean(),
  /** Whether `alert.created` was sent for it: not while it is muted, nor for what came late after an outage. */
  notified: z.boolean(),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: Instant.nullable(),
  /** A person's name; or the event that ended its cause, `quiet` when it was not seen again for its time, `probe_revoked`. */
  resolved_by: z.string().nullable(),
  resolved_at: Instant.nullable(),
});
export type Alert = z.infer<typeof Alert>;

export const ALERT_SORT_FIELDS = ["last_seen", "first_seen", "severity", "count"] as const;

const AlertFilterQuery = z.object({
  source: listQuery(ALERT_SOURCES).optional(),
  severity: listQuery(Severity.options).optional(),
  status: listQuery(ALERT_STATUSES).optional(),
  type: z.string().min(1).max(64).optional(),
  site_id: Id.optional(),
  device_id: Id.optional(),
  /** Part of the title, the description, the subject or the address. */
  search: z.string().max(255).optional(),
  ...PeriodQuery.shape,
  sort: z.enum(ALERT_SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)).default("-last_seen"),
});

/**
 * `source`, `severity` and `status` take several values with commas. `since` and `until` find what was seen in that period,
 * however long before it began. `sort=-severity`: the gravest first.
 */
export const AlertsQuery = PageQuery.extend(AlertFilterQuery.shape);
export type AlertsQuery = z.infer<typeof AlertsQuery>;

/** The same filters and order for the whole list at once. */
export const AlertsExportQuery = AlertFilterQuery;
export type AlertsExportQuery = z.infer<typeof AlertsExportQuery>;

/** Alerts that match every field that is not null are counted and shown, and nobody is told of them, until `expires_at`. */
export const AlertMute = z.object({
  id: Id,
  source: AlertSource.nullable(),
  type: z.string().nullable(),
  /** Whole; with `*` at its end, what begins so. */
  subject: z.string().nullable(),
  site_id: Id.nullable(),
  reason: z.string(),
  created_by: z.string(),
  created_at: Instant,
  expires_at: Instant,
});
export type AlertMute = z.infer<typeof AlertMute>;

/** At least one of `source`, `type`, `subject` and `site_id`. */
export const AlertMuteCreate = z.strictObject({
  source: AlertSource.optional(),
  type: z.string().min(1).max(64).optional(),
  subject: z.string().min(1).max(512).optional(),
  site_id: Id.optional(),
  reason: z.string().trim().max(1024).default(""),
  expires_at: Instant,
}).refine(({ source, type, subject, site_id }) => (source ?? type ?? subject
  ?? site_id) !== undefined, "name what is to be muted: source, type, subject or site_id");
export type AlertMuteCreate = z.infer<typeof AlertMuteCreate>;
