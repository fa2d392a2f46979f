import type { Configuration } from "../configuration.ts";
import type { DeviceLimits } from "./device-parts-store.ts";

/** What a device may keep of each table. */
export function keepOf(inventory: Configuration["inventory"]): DeviceLimits["keep"] {
  return {
    device_changes: inventory.keep_changes, addresses: inventory.keep_addresses, evidence: inventory.keep_evidence,
    ports: inventory.keep_ports, device_keys: inventory.keep_keys,
  };
}
