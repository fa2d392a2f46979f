import * as z from "zod";
import type { DeviceLimits } from "../../retention/device-parts-store.ts";

/** `[inventory]`: What is kept of each device; the oldest goes first. */
export const InventorySettings = z.strictObject({
  /** Changes, merges that can be undone, and addresses that a device has no more. */
  keep_days: z.number().min(1).max(36_500).default(365),
  keep_changes: z.int().min(10).max(1_000_000).default(1000),
  /** That it has no more. */
  keep_addresses: z.int().min(10).max(100_000).default(256),
  keep_evidence: z.int().min(10).max(100_000).default(256),
  keep_ports: z.int().min(10).max(131_072).default(4096),
  keep_keys: z.int().min(8).max(1000).default(64),
  keep_merges: z.int().min(1).max(10_000).default(50),
  /** Of each site; beyond it those not seen for longest go, but none that people have worked on. */
  keep_devices: z.int().min(100).max(10_000_000).default(250_000),
}).prefault({});
export type InventorySettings = z.infer<typeof InventorySettings>;

/** As many lists of ports as a site's scans may have. */
const KEEP_LOOKS = 16;

/** What a device may keep of each table. */
export function keepOf(inventory: InventorySettings): DeviceLimits["keep"] {
  return {
    device_changes: inventory.keep_changes, addresses: inventory.keep_addresses, evidence: inventory.keep_evidence,
    ports: inventory.keep_ports, device_keys: inventory.keep_keys, port_looks: KEEP_LOOKS,
  };
}
