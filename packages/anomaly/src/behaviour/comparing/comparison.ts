import { explain, type Explained } from "../anomaly.ts";
import { clearHour, closeHour, type Device } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { Groups } from "../groups.ts";
import { createHourJudge, isLearnable, learnDeviceHour } from "./judge.ts";
import { slotOf } from "../profile.ts";
import type { SiteSeries } from "../site-series.ts";
import type { HostUse } from "../sketches/host-use.ts";
import type { RegionUse } from "../sketches/region-use.ts";

/** Compares hours in pieces, so that nobody waits long for it. */
export interface HourComparison {
  /** An hour is over: it is compared from now on. What is left of the hour before is done at once. @param isLearned Whether it becomes usual, too. */
  readonly begin: (at: number, isLearned: boolean) => void;
  /** Goes on by one device. @returns Whether something is left. */
  readonly work: () => boolean;
  /** What is left of the hour is not compared, and not learned. */
  readonly drop: () => void;
}

/** @param deps.onFound Is given what is found, the strongest first. */
export function createHourComparison(deps: {
  readonly devices: DeviceTable; readonly groups: Groups; readonly regions: RegionUse; readonly peers: HostUse;
  readonly siteSeries: Pick<SiteSeries, "learnHour" | "skipHour">; readonly onFound: (found: Explained) => void;
}): HourComparison {
  const { devices, groups } = deps;
  const uses = [deps.regions, deps.peers];
  const judge = createHourJudge(deps);
  let pieces: Iterator<undefined> | null = null;

  function work(): boolean {
    if (pieces?.next().done !== false) pieces = null;
    return pieces !== null;
  }

  function* compare(all: readonly Device[], at: number, isLearned: boolean): Generator<undefined, void> {
    const slot = slotOf(at - 1);
    // The strongest first: the day's budget is for them.
    const found = (yield* judge(all, slot, at)).toSorted((a, b) => b.score - a.score);
    for (const { device, clues, score } of found) {
      deps.onFound(explain(device, clues, { at, slot, score }));
      yield;
    }
    for (const device of all) {
      if (isLearned) learnDeviceHour({ device, groups, slot, at });
      clearHour(device.closed);
      yield;
    }
    const except = isLearned ? all.filter((device) => !isLearnable(device)).map(({ key }) => key) : null;
    for (const use of uses) yield* use.settleHour(except);
  }

  return {
    begin(at, isLearned) {
      // With what was unusual of the site in its hour.
      while (work());
      if (isLearned) deps.siteSeries.learnHour(devices.site(), at);
      else deps.siteSeries.skipHour();
      const all = devices.all();
      for (const device of all) closeHour(device);
      for (const use of uses) use.closeHour();
      pieces = compare(all, at, isLearned);
    },
    work,
    drop() {
      pieces = null;
    },
  };
}
