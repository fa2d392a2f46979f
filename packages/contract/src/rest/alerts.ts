import * as z from "zod";
import { Id, Instant, Severity } from "../values.ts";
import { AlertConditions, AlertSource, AlertStatus } from "./alert-conditions.ts";
import { AlertFilterText } from "./alert-filter.ts";
import { bulkRequest } from "./bulk.ts";
import { PageQuery } from "./envelopes.ts";
import { PlainText } from "./plain-text.ts";

const Note = PlainText(1024).default("");

/** An event behind an alert. The bytes of packets are in `data.packets` of the first one only, and not in lists. */
export const AlertEvidence = z.object({
  event_id: Id.describe("The event's id in the log."),
  event: z.string().describe("The event's type, as `ids_alert`."),
  occurred_at: Instant.describe("When it happened, by the clock of the probe or collector that saw it."),
  data: z.record(z.string(), z.unknown()).describe("The event's data, as the stream shows it for this type."),
});
export type AlertEvidence = z.infer<typeof AlertEvidence>;

/**
 * Something that an operator should know. While an alert is not resolved, the same condition (`type`, site, `subject`) raises its
 * `count` and `last_seen`, and its `severity` where that is higher; it creates no second alert.
 */
export const Alert = z.object({
  id: Id.describe("The alert's id."),
  tenant_id: Id.describe("The tenant that it belongs to."),
  site_id: Id.nullable().describe("The site where it happened. Null where it is about no site."),
  device_id: Id.nullable().describe("The device that it is about. Null where it is about no known device."),
  device_ip: z.string().describe("The device's address when the alert was raised. Empty where the alert is not about one address."),
  probe_id: Id.nullable().describe("The probe that saw it. Null where the collector found it."),
  source: AlertSource.describe("What raised it."),
  type: z.string().describe("What kind of alert it is, as `ids_alert` or `probe_silent`."),
  subject: z.string().describe("What it is about. There is one open alert for each `type`, site and `subject`."),
  severity: Severity.describe("How urgent it is: `critical`: act at once, at any hour. `high`: act now. `medium`: today. `low`: this week. `info`: for information."),
  title: z.string().describe("What happened, in one line."),
  description: z.string().describe("What happened, in full, and what to do."),
  guide: z.string().nullable().describe(
    "Where the detector that raised it is explained: a page of the product's documentation and its section, as `apps/probe/README.md#guards`. Null where there is none.",
  ),
  status: AlertStatus.describe("`open`: nobody works on it. `acknowledged`: somebody does. `resolved`: it is over."),
  count: z.int().min(1).describe("How often it was seen."),
  first_seen: Instant.describe("When it was seen first."),
  last_seen: Instant.describe("When it was seen last."),
  evidence: z.array(AlertEvidence).describe("The events behind it: the first and the last ones, at most five."),
  mitre_techniques: z.array(z.string()).describe("MITRE ATT&CK techniques, as `T1557.002`."),
  muted: z.boolean().describe("Whether a mute matches it now."),
  notified: z.boolean().describe("Whether `alert.created` was sent. It is not sent while the alert is muted, nor for events that arrive late after an outage."),
  acknowledged_by: z.string().nullable().describe("Name of the user who acknowledged it. Null while nobody has."),
  acknowledged_at: Instant.nullable().describe("When it was acknowledged. Null while it is not."),
  resolved_by: z.string().nullable().describe(
    "Who or what resolved it: a user's name, the event that ended its cause, `quiet` (not seen again for its time, "
      + "or its probe was silent for a week) or `probe_revoked`. Null while it is not resolved.",
  ),
  resolved_at: Instant.nullable().describe("When it was resolved. Null while it is not."),
});
export type Alert = z.infer<typeof Alert>;

/** Fields that `sort` of `AlertsQuery` takes, each with or without `-`. */
export const ALERT_SORT_FIELDS = ["last_seen", "first_seen", "severity", "count"] as const;

const AlertFilterQuery = AlertConditions.extend({
  filter: AlertFilterText.optional(),
  sort: z.enum(ALERT_SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)).default("-last_seen")
    .describe("The order: a field ascends, `-` before it descends. `-severity` shows the most urgent first."),
});

/**
 * A page of the alerts; every filter must match. `since` and `until` find alerts that were seen in that period,
 * also those that began before it. `sort=-severity`: the most severe first.
 */
export const AlertsQuery = PageQuery.extend(AlertFilterQuery.shape);
export type AlertsQuery = z.infer<typeof AlertsQuery>;

/** The same filters and order for the whole list at once. */
export const AlertsExportQuery = AlertFilterQuery;
export type AlertsExportQuery = z.infer<typeof AlertsExportQuery>;

/** What a person makes of an alert. */
export const AlertDecision = z.enum(["acknowledged", "resolved"]);
export type AlertDecision = z.infer<typeof AlertDecision>;

/** What is done to each of many alerts: as `POST /alerts/{alert_id}/acknowledge` and `…/resolve` do, or mutes of their own. */
export const AlertBulkChange = z.strictObject({
  status: AlertDecision.optional().describe("`acknowledged`: somebody works on it; a resolved one stays resolved. `resolved`: it is over."),
  muted_until: Instant.optional().describe("Instead of `status`: the same as each of them, of its type, site and subject, is muted until then, within the next 366 days."),
  note: Note.describe("Why, for who reads the alert's history later; of a mute its reason. At most 1024 characters."),
}).refine(({ status, muted_until: until }) => (status === undefined) !== (until === undefined), { path: ["status"], message: "either status or muted_until is needed, and not both" });
export type AlertBulkChange = z.infer<typeof AlertBulkChange>;

/** What somebody did with an alert. */
export const AlertAction = z.object({
  id: Id.describe("The entry's id."),
  action: z.enum([...AlertDecision.options, "muted"]).describe("What was done."),
  at: Instant.describe("When it was done."),
  by: z.string().describe("Name of the user or API key that did it."),
  note: z.string().describe("Why. Empty for no reason given."),
  muted_until: Instant.nullable().describe("Until when it was muted. Null where it was not."),
});
export type AlertAction = z.infer<typeof AlertAction>;

/** A change of all alerts that a filter leaves, or of some. */
export const AlertBulkRequest = bulkRequest(AlertFilterText, AlertBulkChange);
export type AlertBulkRequest = z.infer<typeof AlertBulkRequest>;

/** Alerts that match every field that is not null are counted and shown, but not notified, until `expires_at`. */
export const AlertMute = z.object({
  id: Id.describe("The mute's id."),
  source: AlertSource.nullable().describe("Alerts of this source. Null for any."),
  type: z.string().nullable().describe("Alerts of this type. Null for any."),
  subject: z.string().nullable().describe("Alerts about this subject; with `*` at its end, subjects that begin so. Null for any."),
  site_id: Id.nullable().describe("Alerts of this site. Null for any."),
  reason: z.string().describe("Why it was muted. Empty for no reason given."),
  created_by: z.string().describe("Name of the user who created the mute."),
  created_at: Instant.describe("When the mute was created."),
  expires_at: Instant.describe("When the mute expires."),
});
export type AlertMute = z.infer<typeof AlertMute>;

/** At least one of `source`, `type`, `subject` and `site_id`. */
export const AlertMuteCreate = z.strictObject({
  source: AlertSource.optional().describe("Alerts of this source."),
  type: z.string().min(1).max(64).optional().describe("Alerts of this type."),
  subject: z.string().min(1).max(512).optional().describe("Alerts about this subject; with `*` at its end, subjects that begin so."),
  site_id: Id.optional().describe("Alerts of this site."),
  reason: z.string().trim().max(1024).default("").describe("Why it is muted, for later readers."),
  expires_at: Instant.describe("When the mute expires, within the next 366 days."),
}).refine(({ source, type, subject, site_id }) => (source ?? type ?? subject
  ?? site_id) !== undefined, "at least one of source, type, subject and site_id is needed");
export type AlertMuteCreate = z.infer<typeof AlertMuteCreate>;
