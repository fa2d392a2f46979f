/** Keeps a receiver that does not answer from being called for each new event. */
export interface Circuit {
  /** How long new events still wait, in milliseconds; 0 when they need not. */
  waitMs(): number;
  /** The last attempt took long or had no answer: its next one is not to hold what others need. */
  isSlow(): boolean;
  /** @param answered Whether there was an HTTP answer, of any status. @param tookMs From the attempt's begin to its end. */
  attempted(answered: boolean, tookMs: number): void;
}

/** An answer that takes longer makes a receiver slow. */
const SLOW_MS = 1000;
/** More than one delivery's schedule makes in its first ten minutes, so that a single event's attempts are never held back. */
const FAILURES_TO_OPEN = 5;
/** As long as until a first retry. One attempt is made then, and its outcome decides again. */
const OPEN_MS = 30_000;

/** @param now Milliseconds that only rise. */
export function createCircuit(now: () => number): Circuit {
  let failures = 0;
  let openUntil = 0;
  let slow = false;
  return {
    waitMs: () => Math.max(0, openUntil - now()),
    isSlow: () => slow,
    attempted(answered, tookMs) {
      slow = !answered || tookMs > SLOW_MS;
      failures = answered ? 0 : failures + 1;
      openUntil = failures >= FAILURES_TO_OPEN ? now() + OPEN_MS : 0;
    },
  };
}
