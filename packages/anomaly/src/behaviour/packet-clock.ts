import { BUCKET_SECONDS, clearHour, closeBucket } from "./devices/device.ts";
import type { DeviceTable } from "./devices/device-table.ts";
import { fitToClock } from "./devices/lifecycle.ts";
import type { HourOfUse } from "./sketches/host-use.ts";

const HOUR_SECONDS = 3600;
/** Nothing at all for so long was not a quiet network but nobody who looked. */
const MAX_SILENCE_SECONDS = 3 * BUCKET_SECONDS;

/** Closes buckets and hours as packet time passes. */
export interface PacketClock {
  readonly advance: (at: number) => void;
  /** Seconds of packet time; NaN before there is any. */
  readonly now: () => number;
  /** The hour is neither compared nor learned. */
  readonly distrustHour: () => void;
  /** The hour is compared, and not learned. */
  readonly thinHour: () => void;
  readonly counts: () => {
    /** How often it went back by more than a bucket, or jumped over more than an hour. */
    readonly clockSteps: number;
    readonly comparedHours: number;
    readonly distrustedHours: number;
  };
}

/**
 * @param deps.uses Forget an hour that is not to be trusted, as devices do.
 * @param deps.onHour Is given the end of an hour that was seen as a whole, before another begins, and whether it is to be learned.
 */
export function createPacketClock({ devices, uses, onHour }: {
  readonly devices: DeviceTable; readonly uses: readonly HourOfUse[]; readonly onHour: (at: number, isLearned: boolean) => void;
}): PacketClock {
  let now = Number.NaN;
  let [isTrusted, isThin] = [true, false];
  let [steps, comparedHours, distrustedHours] = [0, 0, 0];

  function endHour(at: number): void {
    if (isTrusted) {
      comparedHours += 1;
      onHour(at, !isThin);
    } else {
      distrustedHours += 1;
      for (const device of devices.all()) clearHour(device.hour);
      for (const use of uses) use.dropHour();
    }
    [isTrusted, isThin] = [true, false];
  }

  /** What was saved may be of a time that is yet to come: the clock was wrong then. */
  function begin(at: number): void {
    for (const device of devices.all()) fitToClock(device, at);
    isTrusted = isBeginOfHour(at);
  }

  /** What was counted of the hour cannot be compared with whole hours. */
  function step(at: number): void {
    if (at < now || at > now + HOUR_SECONDS) steps += 1;
    for (const device of devices.all()) {
      fitToClock(device, at);
      device.hour.bucket.fill(0);
      device.recent.fill(0);
      device.lastBucket = Math.floor(at / BUCKET_SECONDS) - 1;
      clearHour(device.hour);
    }
    for (const use of uses) use.dropHour();
    isTrusted = isBeginOfHour(at);
  }

  return {
    advance(at) {
      if (!Number.isFinite(at)) return;
      if (Number.isNaN(now)) begin(at);
      else if (at < now - BUCKET_SECONDS || at > now + MAX_SILENCE_SECONDS) step(at);
      else {
        for (let bucket = Math.floor(now / BUCKET_SECONDS); bucket < Math.floor(at / BUCKET_SECONDS); bucket += 1) {
          for (const device of devices.all()) closeBucket(device, bucket);
          if (((bucket + 1) * BUCKET_SECONDS) % HOUR_SECONDS === 0) endHour((bucket + 1) * BUCKET_SECONDS);
        }
      }
      now = Number.isNaN(now) || at > now || at < now - BUCKET_SECONDS ? at : now;
    },
    now: () => now,
    distrustHour: () => {
      isTrusted = false;
    },
    thinHour: () => {
      isThin = true;
    },
    counts: () => ({ clockSteps: steps, comparedHours, distrustedHours }),
  };
}

function isBeginOfHour(at: number): boolean {
  return at % HOUR_SECONDS < BUCKET_SECONDS;
}
