import * as z from "zod";
import { Id, Instant, LICENSE_LIMITS, LICENSE_STATUSES } from "../values.ts";

export const LicenseFeature = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "must be lower-case letters, digits and _ . -");

const Limit = z.int().min(1).max(1_000_000_000);

/** What a signed licence says: the claims of a JWT (EdDSA, `typ` `license+jwt`, audience `lanthorn`). */
export const LicenseClaims = z.object({
  aud: z.literal("lanthorn"),
  /** The licence's own number. */
  jti: z.string().min(1).max(128),
  /** Who it is for, in words. */
  sub: z.string().min(1).max(255),
  iat: z.int().min(0).max(253_402_300_799),
  /** Without it, it never ends. */
  exp: z.int().min(0).max(253_402_300_799).optional(),
  /** The one tenant that it is good for; any where it is left out. */
  tenant: Id.optional(),
  probes: Limit.optional(),
  devices: Limit.optional(),
  features: z.array(LicenseFeature).max(64).default([]),
});
export type LicenseClaims = z.infer<typeof LicenseClaims>;

export const LicenseUpload = z.strictObject({
  license: z.string().trim().min(1).max(8192).describe("The license as its issuer sent it: a JWT of three parts with dots between."),
});


/**
 * The licence that applies. `community` without one: nothing is limited. `untrusted`: none of this deployment's issuers has
 * signed it, so that it counts as none. A limit that is passed, or an end that has come, is told and stops nothing.
 */
export const License = z.object({
  status: z.enum(LICENSE_STATUSES).describe(
    "`community`: there is none, and nothing is limited. `expiring`: it ends soon. `untrusted`: no issuer that the deployment knows "
      + "signed it, so it counts as none.",
  ),
  license_id: z.string().nullable().describe("The license's own number. Null without one."),
  licensee: z.string().nullable().describe("Who it is for. Null without one."),
  issued_at: Instant.nullable().describe("When it was issued. Null without one."),
  expires_at: Instant.nullable().describe("When it ends. Null for one that never ends."),
  limits: z.object({
    probes: z.int().nullable().describe("Probes. Null for no limit."), devices: z.int().nullable().describe("Devices. Null for no limit."),
  }).describe("How many it is for."),
  usage: z.object({
    probes: z.int().min(0).describe("Probes that are not revoked."), devices: z.int().min(0).describe("Devices in the inventory."),
  }).describe("How many there are now."),
  exceeded: z.array(z.enum(LICENSE_LIMITS)).describe("Of which there are more than it is for. That raises an alert and stops nothing."),
  features: z.array(z.string()).describe("Features that it names."),
  uploaded_at: Instant.nullable().describe("When it was uploaded. Null without one."),
  uploaded_by: z.string().nullable().describe("Name of who uploaded it. Null without one."),
});
export type License = z.infer<typeof License>;
