import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createLookPace } from "./look-pace.ts";

/** A pace, and the looks that are made by it on a link that brings so many blocks and frames a millisecond. */
function openScene() {
  const clock = createFakeClock(0);
  const pace = createLookPace(clock);
  const look = async (afterMs: number, blocks: number, frames: number) => {
    await clock.advance(afterMs);
    return pace.looked(blocks, frames);
  };
  const follow = async (looks: number, blocksPerMs: number, framesPerMs: number, firstMs = 6) => {
    const delays: (number | null)[] = [];
    for (let delay: number | null = firstMs; delays.length < looks; delay = delays.at(-1) ?? 6) {
      delays.push(await look(delay, Math.ceil(blocksPerMs * delay), Math.floor(framesPerMs * delay)));
    }
    return delays;
  };
  return { look, follow };
}

test("while thousands of frames a second come, looks are as far apart as finds fifteen blocks, 40 ms at most", async () => {
  expect((await openScene().follow(8, 1.5, 250)).at(-1)).toBe(10);
  expect((await openScene().follow(8, 10, 1600)).at(-1)).toBe(3);
  expect((await openScene().follow(8, 0.1, 12)).at(-1)).toBe(40);
});

test("a few frames are looked for soon, and where there is nothing the thread is asked", async () => {
  const { follow, look } = openScene();
  expect(await follow(3, 0.1, 1)).toEqual([6, 6, 6]);
  expect(await look(6, 0, 0)).toBeNull();
});

test("a flood that begins behind silence is looked at soon again, however the link was busy before", async () => {
  const { follow, look } = openScene();
  expect((await follow(8, 0.1, 12)).at(-1)).toBe(40);
  expect(await look(40, 0, 0)).toBeNull();
  // The thread has waited for half a second; what woke it is one block.
  expect(await look(500, 1, 82)).toBe(12);
});
