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
  /**
   * It ended, and the next one waits as long as a shared one took: on a slow disk or a busy machine rounds are fewer and larger, and at
   * most half of the time goes into them. For work that who waits for it does not wait for alone; without it, only `roundMs` counts.
   */
  ended(): void;
}

/** A disk that stands still is no reason to wait longer. */
const MAX_REST_MS = 250;

/**
 * It goes by the machine's own clock: the pace spares the processor, and is no part of what anybody measures or keeps.
 * @param roundMs From the begin of a round that several share to the next, at least.
 */
export function createPace(roundMs: number): Pace {
  let notBefore = 0;
  let beganAt: number | null = null;
  return {
    async next() {
      await nextTurn();
      const waitMs = notBefore - systemClock.monotonic();
      if (waitMs > 0) await pause(systemClock, waitMs);
    },
    began(count) {
      beganAt = count > 1 ? systemClock.monotonic() : null;
      notBefore = beganAt === null ? 0 : beganAt + roundMs;
    },
    ended() {
      if (beganAt === null) return;
      const now = systemClock.monotonic();
      notBefore = Math.max(notBefore, now + Math.min(now - beganAt, MAX_REST_MS));
    },
  };
}
