import * as z from "zod";

/** `[license]`: Whose licenses count. */
export const LicenseSettings = z.strictObject({
  /** Public keys (Ed25519, PEM) of those whose licenses are taken; none are without. */
  issuer_files: z.array(z.string().min(1)).max(16).default([]),
  /** How long before its end a license raises an alert. */
  warn_days: z.number().min(0).max(365).default(30),
}).prefault({});
export type LicenseSettings = z.infer<typeof LicenseSettings>;
