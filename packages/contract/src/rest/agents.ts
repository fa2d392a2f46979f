import { z } from "zod";
import { ProbeHealth } from "../uplink/messages.ts";
import { Id, Instant } from "../values.ts";

export const EnrollmentTokenCreate = z.strictObject({
  site_id: Id,
  /** One minute to thirty days; one hour when left out. */
  ttl_seconds: z.int().min(60).max(2_592_000).default(3600),
});

/** A new enrollment token. `token` is shown this once. */
export const EnrollmentToken = z.object({ id: Id, token: z.string(), site_id: Id, expires_at: Instant });
export type EnrollmentToken = z.infer<typeof EnrollmentToken>;

/** What a probe sends to be enrolled: the token, and a PKCS #10 signing request in PEM for the key that it keeps. */
export const EnrollRequest = z.strictObject({
  token: z.string().min(1).max(256),
  certificate_request: z.string().min(1).max(16_384),
  /** What people should call it; the host's name when left out. */
  name: z.string().trim().min(1).max(255),
});

/** What it gets: its identity, its certificate, the collector's CA, and where the broker is. */
export const EnrollResponse = z.object({
  probe_id: Id,
  tenant_id: Id,
  site_id: Id,
  certificate: z.string(),
  ca_certificate: z.string(),
  mqtt_url: z.string(),
});
export type EnrollResponse = z.infer<typeof EnrollResponse>;

/** Sent with the client certificate that is about to end, for the same or a new key. */
export const RenewRequest = z.strictObject({ certificate_request: z.string().min(1).max(16_384) });
export const RenewResponse = z.object({ certificate: z.string(), ca_certificate: z.string() });
export type RenewResponse = z.infer<typeof RenewResponse>;

/** Why an enrollment was refused, in `error.details.reason`. */
export const ENROLL_REFUSALS = ["token-unknown", "token-used", "token-expired", "bad-certificate-request"] as const;

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
});
export type Probe = z.infer<typeof Probe>;
