import * as z from "zod";
import { Id, Instant, LICENSE_LIMITS, LICENSE_STATUSES } from "../values.ts";

/** The name of a licensed feature, 1 to 64 characters. */
export const LicenseFeature = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "must be lower-case letters, digits and _ . -");

const Limit = z.int().min(1).max(1_000_000_000);

/** What a signed license says: the claims of a JWT (EdDSA, `typ` `license+jwt`, audience `lanthorn`). */
export const LicenseClaims = z.object({
  aud: z.literal("lanthorn"),
  /** The license's own number. */
  jti: z.string().min(1).max(128),
  /** The licensee's name. */
  sub: z.string().min(1).max(255),
  iat: z.int().min(0).max(253_402_300_799),
  /** Left out: the license does not expire. */
  exp: z.int().min(0).max(253_402_300_799).optional(),
  /** The only tenant that it is valid for; any where it is left out. */
  tenant: Id.optional(),
  probes: Limit.optional(),
  devices: Limit.optional(),
  features: z.array(LicenseFeature).max(64).default([]),
});
export type LicenseClaims = z.infer<typeof LicenseClaims>;

/** Refused with `BAD_REQUEST`: a license that no trusted issuer signed, of another tenant, or past its end. */
export const LicenseUpload = z.strictObject({
  license: z.string().trim().min(1).max(8192).describe("The license as its issuer sent it: a JWT of three parts with dots between."),
});


/**
 * The license that applies. `community` without one: nothing is limited. `untrusted`: none of this deployment's issuers
 * signed it, so it does not count. An exceeded limit or an expired license is shown and stops nothing.
 */
export const License = z.object({
  status: z.enum(LICENSE_STATUSES).describe(
    "`community`: there is none, and nothing is limited. `expiring`: it expires soon. `untrusted`: no issuer that the deployment trusts "
      + "signed it, so it does not count.",
  ),
  license_id: z.string().nullable().describe("The license's own number. Null without one."),
  licensee: z.string().nullable().describe("Who it is for. Null without one."),
  issued_at: Instant.nullable().describe("When it was issued. Null without one."),
  expires_at: Instant.nullable().describe("When it expires. Null for one that does not expire."),
  limits: z.object({
    probes: z.int().nullable().describe("Probes. Null for no limit."), devices: z.int().nullable().describe("Devices. Null for no limit."),
  }).describe("The licensed numbers."),
  usage: z.object({
    probes: z.int().min(0).describe("Probes that are not revoked."), devices: z.int().min(0).describe("Devices in the inventory."),
  }).describe("The current numbers."),
  exceeded: z.array(z.enum(LICENSE_LIMITS)).describe("Which limits are exceeded. That raises an alert and stops nothing."),
  features: z.array(z.string()).describe("Features that it names."),
  uploaded_at: Instant.nullable().describe("When it was uploaded. Null without one."),
  uploaded_by: z.string().nullable().describe("Name of the user who uploaded it. Null without one."),
});
export type License = z.infer<typeof License>;
