import type { PacketIoClock } from "../capture/capture-types.ts";
import { LOOK_MS, type NextLook } from "./readiness.ts";

/** Frames of one look that are many: thousands a second come, and nobody waits for one of them. */
const MANY_FRAMES = 64;
/** The next look is to find so many blocks, a quarter of the kernel's ring. */
const BLOCKS_OF_A_LOOK = 15;
/**
 * A look costs as much as hundreds of frames, as the processor's caches are others' by then. A flood may begin at any time, and the kernel's ring
 * takes 400 MB/s for so long.
 */
const LONGEST_LOOK_MS = 40;
const SHORTEST_LOOK_MS = 3;

/** Says after each look at a kernel's ring when the next one is due. */
export interface LookPace {
  /**
   * @param blocks What this look took, with its frames.
   * @returns Milliseconds, at most twice as many as the last time; null where there was nothing.
   */
  looked(blocks: number, frames: number): NextLook;
}

/** By what came since the look before. Where that one found nothing, what came may have come just now, and more of it. */
export function createLookPace(clock: Pick<PacketIoClock, "monotonic">): LookPace {
  let lookedAt = clock.monotonic();
  let delayMs = LOOK_MS;
  return {
    looked(blocks, frames) {
      const now = clock.monotonic();
      const wanted = ((now - lookedAt) * BLOCKS_OF_A_LOOK) / blocks;
      lookedAt = now;
      if (frames < MANY_FRAMES) delayMs = LOOK_MS;
      else delayMs = Math.max(SHORTEST_LOOK_MS, Math.round(Math.min(wanted, delayMs * 2, LONGEST_LOOK_MS)));
      return blocks === 0 ? null : delayMs;
    },
  };
}
