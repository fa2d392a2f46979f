import { expect, test } from "vitest";
import type { CapturedFrame } from "./capture-types.ts";
import { BATCH_FRAMES, createFrameQueue } from "./frame-queue.ts";
import { takeTurn } from "./take-turn.ts";

/** Frames that wait for a reader who takes so long for each, and the frames of each turn. */
function turnsOf(count: number, frameMs: number): readonly (readonly CapturedFrame[])[] {
  const queue = createFrameQueue();
  for (let number = 0; number < count; number += 1) queue.push(number, Buffer.alloc(60), 60, 60);
  let now = 0;
  const turns: CapturedFrame[][] = [];
  while (queue.length > 0) {
    const turn: CapturedFrame[] = [];
    takeTurn({
      clock: { monotonic: () => now }, take: () => queue.take(), onFrames(batch) {
        turn.push(...batch);
        now += batch.length * frameMs;
      },
    });
    turns.push(turn);
  }
  return turns;
}

test.each([
  ["cheap frames", 0.002, 512], ["frames of 122 microseconds", 0.122, 3 * BATCH_FRAMES], ["frames of a millisecond", 1, BATCH_FRAMES],
])("%s come in their order, and others get their turn between them", (_, frameMs, longest) => {
  const turns = turnsOf(2000, frameMs);
  expect(turns.flat().map(({ atMicroseconds }) => atMicroseconds)).toEqual(Array.from({ length: 2000 }, (_value, number) => number));
  expect(Math.max(...turns.map((turn) => turn.length))).toBe(longest);
});

test("a turn in which nothing waits calls nobody", () => {
  takeTurn({ clock: { monotonic: () => 0 }, take: () => [], onFrames: () => expect.unreachable() });
});
