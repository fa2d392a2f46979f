import { nextTurn, pause, systemClock } from "@lanthorn/runtime";

/**
 * Keeps rounds of shared work apart, so that more share each. A round costs one flush of the disk and about a millisecond of
 * processor, whoever is in it: work in rounds of three costs several times what it costs in rounds of a hundred. Who works alone never
 * waits.
 */
export interface Pace {
  /** Resolves when the next round may begin: after what the sockets had to give in this turn of the event loop, at the earliest. */
  next(): Promise<void>;
  /** A round begins. @param count How many share it. */
  began(count: number): void;
}

/**
 * It goes by the machine's own clock: the pace spares the processor, and is no part of what anybody measures or keeps.
 * @param roundMs From the begin of a round that several share to the next, at least.
 */
export function createPace(roundMs: number): Pace {
  let notBefore = 0;
  return {
    async next() {
      await nextTurn();
      const waitMs = notBefore - systemClock.monotonic();
      if (waitMs > 0) await pause(systemClock, waitMs);
    },
    began(count) {
      notBefore = count > 1 ? systemClock.monotonic() + roundMs : 0;
    },
  };
}
