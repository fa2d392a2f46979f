import * as z from "zod";
import { Id, Instant, LICENSE_LIMITS, LICENSE_STATUSES } from "../values.ts";

export const LicenseFeature = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "lower-case letters, digits and _ . -");

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
  /** As its issuer sent it: three parts with dots between. */
  license: z.string().trim().min(1).max(8192),
});


/**
 * The licence that applies. `community` without one: nothing is limited. `untrusted`: none of this deployment's issuers has
 * signed it, so that it counts as none. A limit that is passed, or an end that has come, is told and stops nothing.
 */
export const License = z.object({
  status: z.enum(LICENSE_STATUSES),
  license_id: z.string().nullable(),
  licensee: z.string().nullable(),
  issued_at: Instant.nullable(),
  /** Null for one that never ends. */
  expires_at: Instant.nullable(),
  /** Null where there is no limit. */
  limits: z.object({ probes: z.int().nullable(), devices: z.int().nullable() }),
  usage: z.object({ probes: z.int().min(0), devices: z.int().min(0) }),
  /** Of which more is used than the licence is for. */
  exceeded: z.array(z.enum(LICENSE_LIMITS)),
  features: z.array(z.string()),
  uploaded_at: Instant.nullable(),
  uploaded_by: z.string().nullable(),
});
export type License = z.infer<typeof License>;
