import { createCoverage, type Watched } from "./coverage.ts";
import type { ClockReading } from "./devices/catch-up.ts";
import { BUCKET_SECONDS } from "./devices/device.ts";

const HOUR_SECONDS = 3600;
/** Nothing at all for so long was not a quiet network but nobody who looked. */
const MAX_SILENCE_SECONDS = 3 * BUCKET_SECONDS;

/** Packet time, NaN before there is any, and how much of it was not watched. Seconds. */
export interface ClockState {
  readonly at: number;
  readonly unwatched: number;
}

/** What becomes of an hour: it is compared and learned, or compared only, or dropped. */
export type HourFate = "learned" | "compared" | "dropped";

/** Says when hours end as packet time passes. Each call costs the same, however many devices there are. */
export interface PacketClock {
  readonly advance: (at: number) => void;
  readonly read: () => ClockReading;
  /** Seconds of packet time without those in which nobody looked and by which the clock was set, so that what lies between two is what was watched. */
  readonly watched: (at: number) => number;
  /** Whether a time is one of the clock as it goes now, and not of before it was set. */
  readonly isOfNow: (at: number) => boolean;
  /** What is saved. */
  readonly state: () => ClockState;
  readonly restore: (state: ClockState) => void;
  /** The hour is neither compared nor learned. */
  readonly distrustHour: () => void;
  /** Of an hour of which more than a hundredth is missing, nothing is learned; it is compared. */
  readonly noteSeen: (what: Watched, seen: number, missed: number) => void;
  readonly counts: () => {
    /** How often it went back by more than a bucket, or jumped over more than an hour. */
    readonly clockSteps: number;
    readonly comparedHours: number;
    /** Those of them that were not learned. */
    readonly thinHours: number;
    readonly distrustedHours: number;
  };
}

/**
 * @param deps.onHour Is given the end of an hour, before another begins.
 * @param deps.onStep Is given by how many seconds the clock was set, or how long nobody looked, before anything else learns of it. What was counted of the hour is to be forgotten.
 */
export function createPacketClock({ onHour, onStep }: {
  readonly onHour: (at: number, fate: HourFate) => void; readonly onStep: (by: number) => void;
}): PacketClock {
  const coverage = createCoverage();
  let saved = Number.NaN;
  const reading = { now: Number.NaN, steps: 0, steppedAt: Number.NEGATIVE_INFINITY, unwatched: 0 } satisfies ClockReading;
  let isTrusted = true;
  let [steps, comparedHours, thinHours, distrustedHours] = [0, 0, 0, 0];

  function endHour(at: number): void {
    const fate = !isTrusted ? "dropped" : coverage.isThin() ? "compared" : "learned";
    if (fate === "dropped") distrustedHours += 1;
    else comparedHours += 1;
    if (fate === "compared") thinHours += 1;
    onHour(at, fate);
    isTrusted = true;
    coverage.clear();
  }

  /** A clock that was behind and is set right makes nothing older than it is, and nor does a gap. */
  function step(from: number, at: number): void {
    const by = isStep(from, at) ? at - from : 0;
    if (by !== 0) onStep(by);
    Object.assign(reading, { now: at, steps: reading.steps + 1, steppedAt: at, unwatched: reading.unwatched + by } satisfies ClockReading);
    isTrusted = isBeginOfHour(at);
    coverage.clear();
  }

  return {
    advance(at) {
      if (!Number.isFinite(at)) return;
      const { now } = reading;
      if (Number.isNaN(now) || isStep(now, at)) {
        if (at < now || at > now + HOUR_SECONDS) steps += 1;
        // What was saved may be of a time that is yet to come: the clock was wrong then.
        step(Number.isNaN(now) ? saved : now, at);
        return;
      }
      const end = Math.floor(at / HOUR_SECONDS) * HOUR_SECONDS;
      if (end > now) endHour(end);
      reading.now = Math.max(now, at);
    },
    read: () => reading,
    watched: (at) => at - reading.unwatched,
    isOfNow: (at) => at >= reading.steppedAt - BUCKET_SECONDS && at <= reading.now + BUCKET_SECONDS,
    state: () => ({ at: Number.isNaN(reading.now) ? saved : reading.now, unwatched: reading.unwatched }),
    restore(state) {
      saved = state.at;
      reading.unwatched = state.unwatched;
    },
    distrustHour: () => {
      isTrusted = false;
    },
    noteSeen: coverage.note,
    counts: () => ({ clockSteps: steps, comparedHours, thinHours, distrustedHours }),
  };
}

/** Whether time did not just pass from one to the other. */
function isStep(from: number, to: number): boolean {
  return to < from - BUCKET_SECONDS || to > from + MAX_SILENCE_SECONDS;
}

function isBeginOfHour(at: number): boolean {
  return at % HOUR_SECONDS < BUCKET_SECONDS;
}
