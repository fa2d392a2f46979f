import type { BeaconWatch } from "../beacon/watch.ts";
import type { SavedEntry } from "../sealed.ts";
import type { Budget } from "./budget.ts";
import type { DeviceTable } from "./devices/device-table.ts";
import type { SiteSeries } from "./site-series.ts";
import type { RegionUse } from "./sketches/region-use.ts";
import { BUDGET_ENTRY, readBudget, readRegionsSince, REGIONS_ENTRY, writeBudget, writeRegionsSince } from "./state.ts";

/** What is saved of all parts, and comes back. */
export interface Saving {
  /** @returns Whether it could be read. */
  readonly restore: (entry: SavedEntry) => boolean;
  readonly save: () => Iterable<SavedEntry>;
  /** Entries that could not be read. */
  readonly damaged: () => number;
}

/** @param parts Each knows its own entries. */
export function createSaving({ budget, regions, devices, beacons, siteSeries }: {
  readonly budget: Budget; readonly regions: RegionUse; readonly devices: Pick<DeviceTable, "restore" | "save">; readonly beacons: Pick<BeaconWatch, "restore" | "save">;
  readonly siteSeries: Pick<SiteSeries, "restore" | "save">;
}): Saving {
  let damaged = 0;

  function isRestored(entry: SavedEntry): boolean {
    if (entry.kind === BUDGET_ENTRY) {
      const taken = readBudget(entry.bytes);
      if (taken) budget.restore(taken);
      return taken !== null;
    }
    if (entry.kind !== REGIONS_ENTRY) return beacons.restore(entry) ?? siteSeries.restore(entry) ?? devices.restore(entry);
    const since = readRegionsSince(entry.bytes);
    if (since !== null) regions.restore(since);
    return since !== null;
  }

  return {
    restore(entry) {
      const isRead = isRestored(entry);
      if (!isRead) damaged += 1;
      return isRead;
    },
    *save() {
      yield { kind: BUDGET_ENTRY, key: "", bytes: writeBudget(budget.state()) };
      yield { kind: REGIONS_ENTRY, key: "", bytes: writeRegionsSince(regions.since()) };
      yield* devices.save();
      yield* beacons.save();
      yield* siteSeries.save();
    },
    damaged: () => damaged,
  };
}
