import type { OutboxState } from "../queue/outbox.ts";

/**
 * Whether the daemon's work moves on; asked by the watchdog, which a hanging event loop does not even reach.
 * @returns False when the health watch stopped turning, the database does not answer, or the kernel drops frames while none
 * come through.
 */
export function createLiveness(deps: {
  readonly turning: () => boolean;
  readonly outbox: () => OutboxState;
  readonly counters: () => { readonly frames: number; readonly dropped: number };
}): () => boolean {
  let before = deps.counters();
  return () => {
    const now = deps.counters();
    const stuck = now.dropped > before.dropped && now.frames === before.frames;
    before = now;
    // A disk that takes nothing is no reason to start anew: that would lose what waits in memory.
    const { queueId, writable } = deps.outbox();
    return deps.turning() && !stuck && (queueId !== "" || !writable);
  };
}
