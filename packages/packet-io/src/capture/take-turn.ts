import type { CapturedFrame, OnFrames, PacketIoClock } from "./capture-types.ts";

/** At most so many in one turn of the event loop: cheap frames need no more to spread its cost. */
const TURN_FRAMES = 512;
/** The rest of the process waits no longer than this and one batch; frames that are costly to read come by the thousand. */
const TURN_MS = 10;

/**
 * Hands frames to their reader for one turn of the event loop: batch after batch, until there are none, 512 frames were handed over, or the
 * reader has had ten milliseconds. The caller hands over the rest in another turn.
 * @param deps.take Gives the next batch, empty where there is none.
 * @returns How many frames were handed over.
 */
export function takeTurn(deps: {
  readonly clock: Pick<PacketIoClock, "monotonic">;
  readonly take: () => readonly CapturedFrame[];
  readonly onFrames: OnFrames;
}): number {
  const { clock, take, onFrames } = deps;
  const end = clock.monotonic() + TURN_MS;
  let frames = 0;
  for (let batch = take(); batch.length > 0; batch = take()) {
    frames += batch.length;
    onFrames(batch);
    if (frames >= TURN_FRAMES || clock.monotonic() >= end) break;
  }
  return frames;
}
