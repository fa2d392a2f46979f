/** Which flows are looked at where there are very many: one host that opens them leaves room for the others. */
export interface FlowRate {
  /**
   * @param device Who opens it; null for a host outside, and for one that is not known yet.
   * @returns `missed` for one that is not of a device with too many: what is counted of the site or of its device lacks something.
   */
  take(at: number, device: string | null): "taken" | "too_many" | "missed";
  /**
   * Packet time has come so far.
   * @returns Seconds that are over since it was last asked, and how many of them were missed: of each no more than the share of its flows. So a burst takes no
   *   more of an hour than it lasts, whoever makes it.
   */
  advance(at: number): { readonly seen: number; readonly missed: number };
  leftOut(): number;
}

const HOUR_SECONDS = 3600;

/** Of packet time and of known devices. Some fifth of a second of work. */
const MAX_A_SECOND = 5000;
/** From here on what is left is for devices that open few. */
const MAX_OF_ANYBODY = 2500;
/** Of a device then: one that opens more is no harder to find by more of them. */
const MAX_OF_DEVICE = 250;
/** Of all that are no known devices: they leave devices their room, and devices leave them this. */
const MAX_OF_OTHERS = 2500;

/** Nothing was taken yet. */
export function createFlowRate(): FlowRate {
  const byDevice = new Map<string, number>();
  let [second, taken, takenOfOthers, missed, leftOut] = [Number.NaN, 0, 0, 0, 0];
  let over = { seen: 0, missed: 0 };

  /** What is over belongs to the hour of its second; time that was set back ends none. */
  function beginSecond(next: number): void {
    const seconds = Math.min(next, (Math.floor(second / HOUR_SECONDS) + 1) * HOUR_SECONDS) - second;
    if (seconds > 0) {
      const share = missed === 0 ? 0 : missed / (taken + takenOfOthers + missed);
      over = { seen: over.seen + seconds - share, missed: over.missed + share };
    }
    [second, taken, takenOfOthers, missed] = [next, 0, 0, 0];
    byDevice.clear();
  }

  function takeOfDevice(device: string): "taken" | "too_many" | "missed" {
    const ofDevice = (byDevice.get(device) ?? 0) + 1;
    byDevice.set(device, ofDevice);
    if (taken >= MAX_OF_ANYBODY && ofDevice > MAX_OF_DEVICE) return "too_many";
    if (taken >= MAX_A_SECOND) return "missed";
    taken += 1;
    return "taken";
  }

  function takeOfOthers(): "taken" | "missed" {
    if (takenOfOthers >= MAX_OF_OTHERS) return "missed";
    takenOfOthers += 1;
    return "taken";
  }

  return {
    take(at, device) {
      if (Math.floor(at) !== second) beginSecond(Math.floor(at));
      const fate = device === null ? takeOfOthers() : takeOfDevice(device);
      if (fate !== "taken") leftOut += 1;
      if (fate === "missed") missed += 1;
      return fate;
    },
    advance(at) {
      if (Math.floor(at) !== second) beginSecond(Math.floor(at));
      const ended = over;
      over = { seen: 0, missed: 0 };
      return ended;
    },
    leftOut: () => leftOut,
  };
}
