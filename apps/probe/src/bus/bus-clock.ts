import type { Clock } from "@lanthorn/runtime";

/**
 * The time that modules on the frame bus know: while a frame is handed over, the time at which it was captured. So a capture file shows
 * them what the link showed.
 */
export interface BusClock extends Clock {
  /** A frame is handed over. @param atMicroseconds When it was captured, since the epoch. */
  enter(atMicroseconds: number): void;
  /** No frame is handed over any more. */
  leave(): void;
}

/** A frame waits for the reader for so long at most; one that seems older was captured before somebody set the machine's clock. */
const MAX_AGE_MS = 10_000;

/** Between frames it is the machine's clock. */
export function createLiveClock(clock: Clock): BusClock {
  let frame: { readonly wall: number; readonly monotonic: number } | null = null;
  /** Monotonic time does not go back where a module has looked at the clock after the frame was captured. */
  let latest = Number.NEGATIVE_INFINITY;
  return {
    ...clock,
    now: () => frame?.wall ?? clock.now(),
    monotonic() {
      latest = frame?.monotonic ?? clock.monotonic();
      return latest;
    },
    enter(atMicroseconds) {
      const wall = clock.now();
      const age = wall - atMicroseconds / 1000;
      const waited = age >= 0 && age <= MAX_AGE_MS ? age : 0;
      frame = { wall: wall - waited, monotonic: Math.max(latest, clock.monotonic() - waited) };
    },
    leave() {
      frame = null;
    },
  };
}

/** A longer silence of the file is passed over: its timers fire as if it were so long, and none of them for the rest. */
const MAX_SILENCE_MS = 60_000;
/** The last instant with a year of four digits; pcapng can say later ones, which no text of a time can. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** How often time moves on once the file is over. */
const FOLLOW_MS = 50;

/** The clock of a capture file. */
export interface ReplayClock extends BusClock {
  /** The file is over: from here on time goes on as the machine's. @returns Stops it. */
  follow(): () => void;
  /** The file is over: so much time passes at once, and the timers fire that fall due in it. */
  advance(ms: number): void;
}

interface Timer {
  dueAt: number;
  readonly task: () => void;
  readonly periodMs: number | null;
}

/**
 * Time goes on from frame to frame, and timers fire between them. A frame that is older than the one before it changes nothing, nor does one
 * from after the year 9999.
 */
export function createReplayClock(machine: Clock): ReplayClock {
  const timers = new Set<Timer>();
  let elapsed = 0;
  /** What `elapsed` counts from, since the epoch; before the first frame nothing but the machine's clock is known. */
  let origin: number | null = null;
  /** No timer is due before this: most frames come sooner. */
  let nextDueAt = Number.POSITIVE_INFINITY;

  const start = (delayMs: number, task: () => void, periodMs: number | null) => {
    const timer: Timer = { dueAt: elapsed + delayMs, task, periodMs };
    timers.add(timer);
    nextDueAt = Math.min(nextDueAt, timer.dueAt);
    return () => void timers.delete(timer);
  };
  const firstDue = (end: number) => {
    let first: Timer | null = null;
    for (const timer of timers) if (timer.dueAt <= end && (first === null || timer.dueAt < first.dueAt)) first = timer;
    return first;
  };
  const advanceTo = (end: number) => {
    if (end < nextDueAt) {
      elapsed = Math.max(elapsed, end);
      return;
    }
    for (let timer = firstDue(end); timer !== null; timer = firstDue(end)) {
      elapsed = Math.max(elapsed, timer.dueAt);
      if (timer.periodMs === null) timers.delete(timer);
      else timer.dueAt += timer.periodMs;
      timer.task();
    }
    elapsed = Math.max(elapsed, end);
    nextDueAt = Number.POSITIVE_INFINITY;
    for (const { dueAt } of timers) nextDueAt = Math.min(nextDueAt, dueAt);
  };
  const skip = (ms: number) => {
    elapsed += ms;
    nextDueAt += ms;
    for (const timer of timers) timer.dueAt += ms;
  };
  return {
    now: () => (origin === null ? machine.now() : origin + elapsed),
    monotonic: () => elapsed,
    after: (delayMs, task) => start(delayMs, task, null),
    every: (periodMs, task) => start(periodMs, task, periodMs),
    enter(atMicroseconds) {
      const wall = atMicroseconds / 1000;
      if (!(wall <= LAST_INSTANT)) return;
      origin ??= wall - elapsed;
      const silence = wall - origin - elapsed;
      if (silence > MAX_SILENCE_MS) {
        advanceTo(elapsed + MAX_SILENCE_MS);
        skip(silence - MAX_SILENCE_MS);
      } else advanceTo(elapsed + Math.max(0, silence));
    },
    leave() {},
    advance: (ms) => advanceTo(elapsed + ms),
    follow() {
      let last = machine.monotonic();
      return machine.every(FOLLOW_MS, () => {
        const now = machine.monotonic();
        advanceTo(elapsed + now - last);
        last = now;
      });
    },
  };
}
