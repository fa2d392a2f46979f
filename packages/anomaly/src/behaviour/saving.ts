import type { BeaconWatch } from "../beacon/watch.ts";
import { isOfOtherVersion, type SavedEntry } from "../sealed.ts";
import type { Budget } from "./budget.ts";
import type { DeviceTable } from "./devices/device-table.ts";
import type { SiteSeries } from "./site-series.ts";
import type { RegionUse } from "./sketches/region-use.ts";
import type { PacketClock } from "./packet-clock.ts";
import { BUDGET_ENTRY, CLOCK_ENTRY, readBudget, readClock, readRegionsSince, REGIONS_ENTRY, writeBudget, writeClock, writeRegionsSince } from "./state.ts";

/** What is saved of all parts, and comes back. */
export interface Saving {
  /** @returns Whether it could be read. */
  readonly restore: (entry: SavedEntry) => boolean;
  readonly save: () => Iterable<SavedEntry>;
  /** Entries that could not be read. */
  readonly counts: () => { readonly damaged: number; readonly otherVersion: number };
}

/** @param parts Each knows its own entries. */
export function createSaving({ clock, budget, regions, devices, beacons, siteSeries }: {
  readonly clock: Pick<PacketClock, "state" | "restore">; readonly budget: Budget; readonly regions: RegionUse; readonly devices: Pick<DeviceTable, "restore" | "save">; readonly beacons: Pick<BeaconWatch, "restore" | "save">;
  readonly siteSeries: Pick<SiteSeries, "restore" | "save">;
}): Saving {
  let [damaged, otherVersion] = [0, 0];

  function isRestored(entry: SavedEntry): boolean {
    if (entry.kind === BUDGET_ENTRY) {
      const taken = readBudget(entry.bytes);
      if (taken) budget.restore(taken);
      return taken !== null;
    }
    if (entry.kind === CLOCK_ENTRY) {
      const state = readClock(entry.bytes);
      if (state) clock.restore(state);
      return state !== null;
    }
    if (entry.kind !== REGIONS_ENTRY) return beacons.restore(entry) ?? siteSeries.restore(entry) ?? devices.restore(entry);
    const since = readRegionsSince(entry.bytes);
    if (since !== null) regions.restore(since);
    return since !== null;
  }

  return {
    restore(entry) {
      const isRead = isRestored(entry);
      if (!isRead && isOfOtherVersion(entry.bytes)) otherVersion += 1;
      else if (!isRead) damaged += 1;
      return isRead;
    },
    *save() {
      yield { kind: CLOCK_ENTRY, key: "", bytes: writeClock(clock.state()) };
      yield { kind: BUDGET_ENTRY, key: "", bytes: writeBudget(budget.state()) };
      yield { kind: REGIONS_ENTRY, key: "", bytes: writeRegionsSince(regions.since()) };
      yield* devices.save();
      yield* beacons.save();
      yield* siteSeries.save();
    },
    counts: () => ({ damaged, otherVersion }),
  };
}
