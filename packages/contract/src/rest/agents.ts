import * as z from "zod";
import { ProbeConfiguration, ProbeHealth } from "../uplink/messages.ts";
import { Id, Instant, IpNetwork } from "../values.ts";
import { PageQuery, PeriodQuery } from "./envelopes.ts";

export const EnrollmentTokenCreate = z.strictObject({
  site_id: Id,
  /** One minute to thirty days; one hour when left out. */
  ttl_seconds: z.int().min(60).max(2_592_000).default(3600),
});

/** A new enrollment token. `token` is shown this once. */
export const EnrollmentToken = z.object({ id: Id, token: z.string(), site_id: Id, expires_at: Instant });
export type EnrollmentToken = z.infer<typeof EnrollmentToken>;

/** Why an enrollment was refused, in `error.details.reason`. */
export const ENROLL_REFUSALS = ["token-unknown", "token-used", "token-expired", "bad-certificate-request"] as const;

/** A token as it is listed; what it is itself is not known here any more. */
export const EnrollmentTokenRecord = z.object({
  id: Id, site_id: Id, created_at: Instant, expires_at: Instant,
  /** Null while it is good, or when it ran out. */
  used_at: Instant.nullable(),
  probe_id: Id.nullable(),
});
export type EnrollmentTokenRecord = z.infer<typeof EnrollmentTokenRecord>;

export const ProbeUpdate = z.strictObject({ name: z.string().trim().min(1).max(255) });

const Told = { sweep: ProbeConfiguration.shape.sweep, excluded: ProbeConfiguration.shape.excluded };

/** What a probe is told: its site's settings, and over them its own. */
export const ProbeSettings = z.object({
  /** Of this probe alone: parts of `sweep` over the site's, `excluded` beside the site's. */
  own: z.object({ sweep: z.object(Told.sweep.shape).partial(), excluded: Told.excluded }),
  effective: z.object(Told),
  /** How many credentials go with it. */
  credentials: z.int().min(0),
  /** Rises with every change. */
  revision: z.int().min(0),
  /** The one that the probe goes by; null before it has told. */
  applied_revision: z.int().min(0).nullable(),
  /** What the probe says is wrong with the last one that it got. */
  error: z.string().nullable(),
  /** When it said so. */
  reported_at: Instant.nullable(),
});
export type ProbeSettings = z.infer<typeof ProbeSettings>;

/** Fields left out stay; null goes back to the site's. */
export const ProbeSettingsUpdate = z.strictObject({
  sweep: z.strictObject(Told.sweep.shape).partial().nullable().optional(),
  excluded: z.array(IpNetwork).max(1024).nullable().optional(),
});
export type ProbeSettingsUpdate = z.infer<typeof ProbeSettingsUpdate>;

/** Samples newest first; `cursor` is the time of the last that was shown. */
export const ProbeHealthQuery = PageQuery.extend(PeriodQuery.shape).extend({ cursor: Instant.optional() });
export type ProbeHealthQuery = z.infer<typeof ProbeHealthQuery>;

export const Probe = z.object({
  id: Id,
  name: z.string(),
  site_id: Id,
  state: z.enum(["enrolled", "online", "silent", "revoked"]),
  version: z.string(),
  enrolled_at: Instant,
  last_heard_at: Instant.nullable(),
  certificate_expires_at: Instant,
  watermark: z.int().min(0),
  /** Payloads that were not taken, by reason. */
  refused: z.record(z.string(), z.int().min(0)),
  health: ProbeHealth.nullable(),
  /** Which configuration it should go by, which it does, and what is wrong with it. */
  configuration: ProbeSettings.pick({ revision: true, applied_revision: true, error: true }),
});
export type Probe = z.infer<typeof Probe>;
