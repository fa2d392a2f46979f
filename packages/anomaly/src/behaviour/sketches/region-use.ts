import { createHostUse, type HostUse, type HourOfUse } from "./host-use.ts";

/** Regions that the site's devices talk to, and since when any are known. */
export interface RegionUse extends HourOfUse, Pick<HostUse, "isCommon" | "clear"> {
  readonly use: (region: string, device: string, at: number) => void;
  /** Whether regions are known for long enough that one of them is news: as a caller begins to know them, all of them are met for the first time. */
  readonly areKnown: (at: number) => boolean;
  /** Seconds of packet time; NaN for never. */
  readonly since: () => number;
  readonly restore: (since: number) => void;
  /** The clock was set, or nobody looked: that time does not count. @param by Seconds. */
  readonly shift: (by: number) => void;
}

/** More than there are countries. */
const MAX_REGIONS = 512;
/** As long as a device is learned. */
const LEARNING_SECONDS = 7 * 86_400;

/** No region is known. */
export function createRegionUse(): RegionUse {
  const users = createHostUse(MAX_REGIONS);
  let since = Number.NaN;
  return {
    use(region, device, at) {
      users.use(region, device);
      // A clock that was ahead is set right.
      if (!(since <= at)) since = at;
    },
    isCommon: users.isCommon,
    closeHour: users.closeHour,
    settleHour: users.settleHour,
    dropHour: users.dropHour,
    areKnown: (at) => at >= since + LEARNING_SECONDS,
    since: () => since,
    restore(saved) {
      since = saved;
    },
    shift(by) {
      since += by;
    },
    clear() {
      users.clear();
      since = Number.NaN;
    },
  };
}
