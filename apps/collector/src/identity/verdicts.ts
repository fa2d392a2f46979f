import { DEVICE_TYPES } from "@lanthorn/contract";
import { COMPUTER, type DeviceEvidence, type DeviceVerdicts, decideDevice } from "@lanthorn/fingerprints";

const TYPES: ReadonlySet<string> = new Set([...DEVICE_TYPES, COMPUTER]);

/** What a device's evidence comes to; evidence of a type that the contract does not have is passed over. */
export function verdictsOf(evidence: readonly DeviceEvidence[]): DeviceVerdicts {
  return decideDevice(evidence.filter(({ field, value }) => field !== "device_type" || TYPES.has(value)));
}

/** The column `verdicts`, which only this collector writes. */
export function readVerdicts(text: string): DeviceVerdicts {
  return text === "{}" ? {} : (JSON.parse(text) as DeviceVerdicts);
}

/** What lists show of them, as the columns have it while nothing is known. */
export function shownOf({ os, os_version: version, device_type: type }: DeviceVerdicts): {
  readonly os_guess: string; readonly device_type: string;
} {
  return {
    os_guess: [os?.value, version?.value].filter((text) => text !== undefined).join(" ").slice(0, 255),
    device_type: type?.value ?? "unknown",
  };
}

/** Who made the device, where more is known than who made its network interface; else null. */
export function vendorOf({ vendor }: DeviceVerdicts): string | null {
  return vendor && vendor.sources[0] !== "oui" ? vendor.value.slice(0, 255) : null;
}
