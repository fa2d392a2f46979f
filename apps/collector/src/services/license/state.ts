import { type EventData, LICENSE_LIMITS, type License, type LicenseClaims } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { LicenseRow } from "./store.ts";
import type { Verified } from "./verify.ts";

const DAY_MS = 86_400_000;
const NONE: Omit<License, "usage"> = {
  status: "community", license_id: null, licensee: null, issued_at: null, expires_at: null, limits: { probes: null, devices: null },
  exceeded: [], features: [], uploaded_at: null, uploaded_by: null,
};

/**
 * The license that applies to a tenant.
 * @param found What was uploaded and what it says; null for nothing.
 * @param at.warnDays How long before its end a license is about to end.
 */
export function licenseOf(
  found: { readonly row: LicenseRow; readonly verified: Verified } | null, usage: License["usage"], at: {
    readonly now: number; readonly warnDays: number;
  },
): License {
  if (!found) return { ...NONE, usage };
  const { row, verified } = found;
  const upload = { uploaded_at: row.uploaded_at, uploaded_by: row.uploaded_by };
  if (!verified.ok || (verified.claims.tenant !== undefined && verified.claims.tenant !== row.tenant_id)) {
    return { ...NONE, ...upload, status: "untrusted", usage };
  }
  const { claims } = verified;
  const limits = { probes: claims.probes ?? null, devices: claims.devices ?? null };
  return {
    status: statusOf(claims, at), license_id: claims.jti, licensee: claims.sub, issued_at: toInstant(claims.iat * 1000),
    expires_at: claims.exp === undefined ? null : toInstant(claims.exp * 1000), limits, usage,
    exceeded: LICENSE_LIMITS.filter((what) => usage[what] > (limits[what] ?? Infinity)), features: claims.features, ...upload,
  };
}

/** The event about a license, published once for each state that it enters. */
export function describeState({ status, licensee, expires_at, exceeded, limits, usage }: License): EventData<"license_state"> {
  const whose = licensee === null ? "The license" : `The license of ${licensee}`;
  const day = expires_at?.slice(0, 10) ?? "";
  const over = exceeded.map((what) => `${usage[what]} ${what} are in use, ${limits[what] ?? 0} are licensed`);
  const words: Readonly<Record<License["status"], string>> = {
    community: "No license: the community license applies", valid: `${whose} is good`, expiring: `${whose} expires on ${day}`,
    expired: `${whose} expired on ${day}`, untrusted: "The license was not signed by an issuer that this deployment trusts",
  };
  return { status, licensee: licensee ?? "", expires_at, exceeded, message: [words[status], ...over].join("; ").slice(0, 512) };
}

/** A state in one word, to see that it is another. */
export function stateKey({ status, exceeded }: Pick<License, "status" | "exceeded">): string {
  return [status, ...exceeded].join(" ");
}

/** A state that nobody need hear of. */
export const CALM_STATE = stateKey({ status: "valid", exceeded: [] });

function statusOf({ exp }: LicenseClaims, { now, warnDays }: { readonly now: number; readonly warnDays: number }): License["status"] {
  if (exp === undefined) return "valid";
  if (exp * 1000 <= now) return "expired";
  return exp * 1000 <= now + warnDays * DAY_MS ? "expiring" : "valid";
}
