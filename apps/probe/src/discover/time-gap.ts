import type { Clock } from "@lanthorn/runtime";

/** Ticks that far apart mean that the process was stopped or the machine slept. */
const GAP_MS = 5000;

/** Notices that no time was spent listening. */
export interface TimeGap {
  /** @param now Monotonic. @returns Whether the last call is too long ago, by either clock. */
  passed(now: number): boolean;
}

/** @returns A watch that counts from now on. */
export function createTimeGap(clock: Clock): TimeGap {
  let last = { monotonic: clock.monotonic(), wall: clock.now() };
  return {
    passed(now) {
      const slept = clock.now() - last.wall - (now - last.monotonic);
      const isGap = now - last.monotonic > GAP_MS || slept > GAP_MS;
      last = { monotonic: now, wall: clock.now() };
      return isGap;
    },
  };
}
