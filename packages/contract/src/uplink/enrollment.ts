import * as z from "zod";
import { Id } from "../values.ts";

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
/** The probe's new certificate and the CA to trust from now on, both in PEM. */
export const RenewResponse = z.object({ certificate: z.string(), ca_certificate: z.string() });
export type RenewResponse = z.infer<typeof RenewResponse>;
