import { explain, type Explained } from "../anomaly.ts";
import { clearHour, type Device } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { Groups } from "../groups.ts";
import { createHourJudge, isLearnable, learnDeviceHour } from "./judge.ts";
import type { HourFate } from "../packet-clock.ts";
import { slotOf } from "../profile.ts";
import type { SiteSeries } from "../site-series.ts";
import type { HostUse } from "../sketches/host-use.ts";
import type { RegionUse } from "../sketches/region-use.ts";

/** Compares hours in pieces, so that nobody waits long for it. */
export interface HourComparison {
  /** An hour is over: it is compared or dropped from now on. What is left of the hour before is done at once. */
  readonly begin: (at: number, fate: HourFate) => void;
  /** Goes on by one device. @returns Whether something is left. */
  readonly work: () => boolean;
  /** Forgets what is left to do: all devices were forgotten. */
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

  function* forget(all: readonly Device[]): Generator<undefined, void> {
    deps.siteSeries.skipHour();
    for (const device of all) {
      devices.catchUp(device);
      clearHour(device.closed);
      yield;
    }
  }

  function* compare(all: readonly Device[], at: number, isLearned: boolean): Generator<undefined, void> {
    const slot = slotOf(at - 1);
    // What is found is said with what was unusual of the site in its hour, which is closed by now.
    if (isLearned) deps.siteSeries.learnHour(devices.site(), at);
    else deps.siteSeries.skipHour();
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
    begin(at, fate) {
      while (work());
      const all = devices.all();
      for (const use of uses) {
        if (fate === "dropped") use.dropHour();
        else use.closeHour();
      }
      pieces = fate === "dropped" ? forget(all) : compare(all, at, fate === "learned");
    },
    work,
    drop() {
      pieces = null;
    },
  };
}
