import { type Decision, decide } from "../verdict/decide.ts";
import { readSystem } from "../verdict/families.ts";

/**
 * What can be said of a service or of the device that it runs on; `vendor` made the product, `device_vendor` the device. `distribution` built
 * the product, as its own `package_version`; what begins with `os_` is the same of the system.
 */
export const CLAIM_FIELDS = [
  "product", "vendor", "version", "edition", "distribution", "package_version", "cpe",
  "os", "os_version", "os_edition", "os_distribution", "os_package_version", "os_cpe", "device_type", "device_vendor", "model", "hostname",
] as const;
/** One of `CLAIM_FIELDS`. */
export type ClaimField = (typeof CLAIM_FIELDS)[number];

/** One thing that an answer says. */
export interface Claim {
  readonly field: ClaimField;
  readonly value: string;
  /** What said it, as `ssh`, `http-server`, `dhcp`; two claims of one source count once. */
  readonly source: string;
  /** 0–1. */
  readonly confidence: number;
}

/** What is believed of one field after everything was heard. */
export interface Verdict extends Claim, Decision {}

/**
 * Weighs claims against each other, as `decide` does.
 * @returns One verdict for each field that anything was said of.
 */
export function combineClaims(claims: readonly Claim[]): Readonly<Partial<Record<ClaimField, Verdict>>> {
  const verdicts: Partial<Record<ClaimField, Verdict>> = {};
  for (const field of CLAIM_FIELDS) {
    const decision = decide(claims.filter((claim) => claim.field === field), field === "os" ? readSystem : undefined);
    if (decision) verdicts[field] = { field, ...decision };
  }
  return verdicts;
}
