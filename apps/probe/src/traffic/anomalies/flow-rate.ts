/** Which flows are looked at where there are very many: one host that opens them leaves room for the others. */
export interface FlowRate {
  /**
   * @param device Who opens it; null for a host outside, and for one that is not known yet.
   * @returns `missed` for one that is not of a device with too many: what is counted of the site or of its device lacks something.
   */
  take(at: number, device: string | null): "taken" | "too_many" | "missed";
  leftOut(): number;
}

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
  let [second, taken, takenOfOthers, leftOut] = [0, 0, 0, 0];

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
      if (Math.floor(at) !== second) {
        [second, taken, takenOfOthers] = [Math.floor(at), 0, 0];
        byDevice.clear();
      }
      const fate = device === null ? takeOfOthers() : takeOfDevice(device);
      if (fate !== "taken") leftOut += 1;
      return fate;
    },
    leftOut: () => leftOut,
  };
}
