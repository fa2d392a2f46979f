import type { Claim, ClaimField } from "../rules/claim.ts";
import type { VerdictField } from "../verdict/device.ts";

/** A claim about a device, by the name that its evidence has. */
export interface DeviceClaim {
  readonly field: VerdictField;
  readonly value: string;
  readonly source: string;
  readonly confidence: number;
}

/** What of a claim is about the device and not about one of its services. */
const FIELDS: Readonly<Partial<Record<ClaimField, VerdictField>>> = {
  os: "os", os_version: "os_version", device_type: "device_type", device_vendor: "vendor", model: "model", hostname: "hostname",
};

/** Of what is claimed of a service, the part that is about its device; of each field and source the surest. */
export function deviceClaims(claims: readonly Claim[]): readonly DeviceClaim[] {
  const surest = new Map<string, DeviceClaim>();
  for (const { field: said, value, source, confidence } of claims) {
    const field = FIELDS[said];
    if (field === undefined || value === "") continue;
    const key = `${field} ${source}`;
    const known = surest.get(key);
    if (!known || known.confidence < confidence) surest.set(key, { field, value, source, confidence });
  }
  return [...surest.values()];
}
