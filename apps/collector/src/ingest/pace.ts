import { nextTurn, pause, systemClock } from "@lanthorn/runtime";

/**
 * A round costs one flush of the disk and about a millisecond of processor, whoever is in it: a fleet's events in rounds of three cost
 * ten times what they cost in rounds of a hundred. Nobody notices the wait.
 */
const ROUND_MS = 25;

/** Keeps rounds of shared work apart, so that more share each. Who works alone never waits. */
export interface Pace {
  /** Resolves when the next round may begin: after what the sockets had to give in this turn of the event loop, at the earliest. */
  next(): Promise<void>;
  /** A round begins. @param count How many share it. */
  began(count: number): void;
}

/** It goes by the machine's own clock: the pace spares the processor, and is no part of what anybody measures or keeps. */
export function createPace(): Pace {
  let notBefore = 0;
  return {
    async next() {
      await nextTurn();
      const waitMs = notBefore - systemClock.monotonic();
      if (waitMs > 0) await pause(systemClock, waitMs);
    },
    began(count) {
      notBefore = count > 1 ? systemClock.monotonic() + ROUND_MS : 0;
    },
  };
}
