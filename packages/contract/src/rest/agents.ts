import * as z from "zod";
import { BundleAnnouncement } from "../uplink/bundles.ts";
import { Sha256 } from "../uplink/files.ts";
import { ProbeConfiguration, ProbeHealth } from "../uplink/messages.ts";
import { Id, Instant, IpNetwork } from "../values.ts";
import { PageQuery, PeriodQuery } from "./envelopes.ts";
import { SweepSettings } from "./sites.ts";

/** A token for one probe of this site. */
export const EnrollmentTokenCreate = z.strictObject({
  site_id: Id.describe("The site that the probe will belong to."),
  ttl_seconds: z.int().min(60).max(2_592_000).default(3600)
    .describe("Seconds until the token expires: one minute to thirty days, one hour when left out."),
});

/** A new enrollment token. `token` is shown only in this answer. */
export const EnrollmentToken = z.object({
  id: Id.describe("The token's id, for the list. It is not the token itself."),
  token: z.string().describe("The token itself, for `lanthorn-probe enroll`. It is shown only in this answer and enrolls one probe."),
  site_id: Id.describe("The site that the probe will belong to."),
  expires_at: Instant.describe("When the token expires."),
});
export type EnrollmentToken = z.infer<typeof EnrollmentToken>;

/** Why an enrollment was refused, in `error.details.reason`. */
export const ENROLL_REFUSALS = ["token-unknown", "token-used", "token-expired", "bad-certificate-request"] as const;

/** A token as it is listed. The collector stores only a hash of the token itself. */
export const EnrollmentTokenRecord = z.object({
  id: Id.describe("The token's id."),
  site_id: Id.describe("The site that the probe belongs to, or will."),
  created_at: Instant.describe("When the token was created."),
  expires_at: Instant.describe("When the token expires or expired."),
  used_at: Instant.nullable().describe("When a probe was enrolled with it. Null where none was."),
  probe_id: Id.nullable().describe("The probe that was enrolled with it. Null where none was."),
});
export type EnrollmentTokenRecord = z.infer<typeof EnrollmentTokenRecord>;

/** The name is all that is changed here; for settings see `ProbeSettingsUpdate`. */
export const ProbeUpdate = z.strictObject({
  name: z.string().trim().min(1).max(255).describe("The probe's display name."),
});

const Settings = { sweep: SweepSettings, excluded: ProbeConfiguration.shape.excluded };

/** The settings of a probe: its site's, overridden by its own. */
export const ProbeSettings = z.object({
  own: z.object({
    sweep: z.object(Settings.sweep.shape).partial().describe("Settings that override the site's."),
    excluded: Settings.excluded.describe("Addresses and networks that are excluded in addition to the site's."),
  }).describe("Settings of this probe only."),
  effective: z.object({
    sweep: Settings.sweep.describe("How often the probe searches for hosts by itself, and how fast."),
    excluded: Settings.excluded.describe("Addresses and networks that the probe never sends anything to."),
  }).describe("The settings that the probe gets: the site's, overridden by its own."),
  credentials: z.int().min(0).describe("How many credentials of the vault are sent to the probe."),
  revision: z.int().min(0).describe("Number of this configuration. It rises with each change."),
  applied_revision: z.int().min(0).nullable().describe("The revision that the probe uses. Null before it has reported one."),
  error: z.string().nullable().describe("Why the probe refused the last configuration. Null where it did not."),
  reported_at: Instant.nullable().describe("When the probe reported `applied_revision` and `error`. Null before the first time."),
});
export type ProbeSettings = z.infer<typeof ProbeSettings>;

/** Fields left out stay; null restores the site's. */
export const ProbeSettingsUpdate = z.strictObject({
  sweep: z.strictObject(Settings.sweep.shape).partial().nullable().optional()
    .describe("Settings that override the site's. Null restores the site's."),
  excluded: z.array(IpNetwork).max(1024).nullable().optional()
    .describe("Addresses and networks that are excluded in addition to the site's. Null removes them."),
});
export type ProbeSettingsUpdate = z.infer<typeof ProbeSettingsUpdate>;

/** Samples newest first; `cursor` is the time of the last that was shown. */
export const ProbeHealthQuery = PageQuery.extend(PeriodQuery.shape).extend({
  cursor: Instant.optional().describe("`meta.next_cursor` of the page before: the time of the last sample on it."),
});
export type ProbeHealthQuery = z.infer<typeof ProbeHealthQuery>;

/** A probe as the collector knows it: `state` is by what arrives, whether or not the probe itself runs. */
export const Probe = z.object({
  id: Id.describe("The probe's id. It is also the name in its certificate."),
  name: z.string().describe("The probe's display name; at first its host's name."),
  site_id: Id.describe("The site that the probe watches."),
  state: z.enum(["enrolled", "online", "silent", "revoked"])
    .describe("`enrolled`: it has never connected. `online`: it sends messages. `silent`: it sends none. `revoked`: it can no longer connect."),
  version: z.string().describe("The probe's version. Empty before it has connected."),
  enrolled_at: Instant.describe("When the probe was enrolled."),
  last_heard_at: Instant.nullable().describe("When the collector last heard from it. Null before the first time."),
  certificate_expires_at: Instant.describe("When its certificate expires. The probe renews it before that."),
  watermark: z.int().min(0).describe("Sequence number of its last event that is stored."),
  refused: z.record(z.string(), z.int().min(0)).describe("How many of its payloads were refused, by reason."),
  health: ProbeHealth.nullable().describe("Its newest health report. Null before the first."),
  configuration: ProbeSettings.pick({ revision: true, applied_revision: true, error: true })
    .describe("The configuration that it should use, the one that it uses, and its last error."),
});
export type Probe = z.infer<typeof Probe>;

/** A file that a probe has sent, or is sending. */
export const ProbeFile = z.object({
  id: Id.describe("The file's id, which the probe has made. It is unique among the probe's files."),
  probe_id: Id.describe("The probe that sent it."),
  kind: z.string().describe("What it is: `capture` or `transcript`."),
  size: z.int().min(1).describe("Size of the whole file, in bytes."),
  sha256: Sha256.describe("SHA-256 of the whole file, in lower-case hexadecimal, as the probe gave it."),
  received: z.int().min(0).describe("How many bytes of it are here."),
  state: z.enum(["open", "received", "failed"])
    .describe("`open`: parts are missing. `received`: it is whole and verified. `failed`: it was damaged too often and is removed."),
  created_at: Instant.describe("When the probe began to send it."),
  updated_at: Instant.describe("When its last piece came, or its end."),
});
export type ProbeFile = z.infer<typeof ProbeFile>;

/** The newest version of a bundle, as operators see it. */
export const PublishedBundle = BundleAnnouncement.extend({
  parts: z.int().min(1).describe("How many files it has."),
  bytes: z.int().min(0).describe("Size of all of them together, in bytes."),
  published_at: Instant.describe("When this version was published."),
});
export type PublishedBundle = z.infer<typeof PublishedBundle>;
