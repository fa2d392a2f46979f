/** Brings a device to the time that it is when something is counted or read of it: nobody walks all devices at once as a bucket or an hour ends. */
import { BUCKET_SECONDS, clearHour, closeBuckets, closeHour, type Device } from "./device.ts";
import { fitToClock, shiftOpen } from "./lifecycle.ts";

/** Packet time in seconds. */
export interface ClockReading {
  /** NaN before there is any. */
  readonly now: number;
  /** How often it began or was set, when it was so last, and how much of it was not watched. */
  readonly steps: number;
  readonly steppedAt: number;
  readonly unwatched: number;
}

const BUCKETS_AN_HOUR = 12;

/** A new device has nothing to catch up with. */
export function beginNow(device: Device, { now, steps, unwatched }: ClockReading): Device {
  return Object.assign(device, { lastBucket: Math.floor(now / BUCKET_SECONDS) - 1, steps, unwatched });
}

/** An hour that is over is closed with it: it is compared, or dropped, before the next one ends. @returns The device. */
export function catchUp(device: Device, clock: ClockReading): Device {
  if (Number.isNaN(clock.now)) return device;
  const bucket = Math.floor(clock.now / BUCKET_SECONDS);
  if (device.steps !== clock.steps) followStep(device, clock);
  if (device.lastBucket >= bucket - 1) return device;
  const hour = Math.floor(bucket / BUCKETS_AN_HOUR);
  if (Math.floor((device.lastBucket + 1) / BUCKETS_AN_HOUR) < hour) {
    closeBuckets(device, hour * BUCKETS_AN_HOUR - 1);
    closeHour(device);
  }
  closeBuckets(device, bucket - 1);
  return device;
}

/** What was counted of the hour cannot be compared with whole hours. */
function followStep(device: Device, { steps, steppedAt, unwatched }: ClockReading): void {
  shiftOpen(device, unwatched - device.unwatched);
  fitToClock(device, steppedAt);
  for (const hour of [device.hour, device.closed]) clearHour(hour);
  device.recent.fill(0);
  device.lastBucket = Math.floor(steppedAt / BUCKET_SECONDS) - 1;
  device.steps = steps;
  device.unwatched = unwatched;
}
