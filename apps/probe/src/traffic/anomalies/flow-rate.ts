/** Which flows are looked at where there are very many: one host that opens them leaves room for the others. */
export interface FlowRate {
  /**
   * @param device Who opens it; null for a host outside, and for one that is not known yet.
   * @returns `missed` for one of a device that is not among those with too many: what is counted of it lacks something.
   */
  take(at: number, device: string | null): "taken" | "too_many" | "missed";
  leftOut(): number;
}

/** Of packet time. Some fifth of a second of work. */
const MAX_A_SECOND = 5000;
/** From here on what is left is for devices that are known. */
const MAX_OF_ANYBODY = 2500;
/** Of a device then: one that opens more is no harder to find by more of them. */
const MAX_OF_DEVICE = 250;

/** Nothing was taken yet. */
export function createFlowRate(): FlowRate {
  const byDevice = new Map<string, number>();
  let [second, taken, leftOut] = [0, 0, 0];

  function isWithin(ofDevice: number): boolean {
    return taken < MAX_OF_ANYBODY || (taken < MAX_A_SECOND && ofDevice <= MAX_OF_DEVICE);
  }

  return {
    take(at, device) {
      if (Math.floor(at) !== second) {
        [second, taken] = [Math.floor(at), 0];
        byDevice.clear();
      }
      const ofDevice = device === null ? Number.POSITIVE_INFINITY : (byDevice.get(device) ?? 0) + 1;
      if (device !== null) byDevice.set(device, ofDevice);
      if (isWithin(ofDevice)) {
        taken += 1;
        return "taken";
      }
      leftOut += 1;
      return ofDevice > MAX_OF_DEVICE ? "too_many" : "missed";
    },
    leftOut: () => leftOut,
  };
}
