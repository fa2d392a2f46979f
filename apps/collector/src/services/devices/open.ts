import type { Log } from "@lanthorn/runtime";
import { createRecomparison } from "../../identity/recomparison.ts";
import { createInventoryRetention } from "../../retention/inventory.ts";
import type { ServiceModule } from "../../service-module.ts";
import { type InventorySettings, keepOf } from "./configuration.ts";
import { createDevices } from "./devices.ts";

/** Devices, with the jobs that find two that are one, and that keep what hangs on them within bounds. */
export function openDevices(
  { inventory }: { readonly inventory: InventorySettings }, deps: Parameters<typeof createDevices>[0] & { readonly logger: Log },
): ServiceModule {
  const { db, reads, merges, clock, logger: log } = deps;
  const limits = {
    keepDays: inventory.keep_days, keepDevices: inventory.keep_devices, keepMerges: inventory.keep_merges, keep: keepOf(inventory),
  };
  return {
    ...createDevices(deps), jobs: [createRecomparison({ db, reads, merges, clock, log })],
    retention: [createInventoryRetention({ db, reads, clock, log }, limits)],
  };
}
