import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createFreeSpace } from "./disk-room.ts";

const GIBI = 1024 ** 3;
const MEBI = 1024 ** 2;

test("the file system is asked a few times a second while there is plenty, and each time where little is left", async () => {
  const clock = createFakeClock();
  let [free, asked] = [3 * GIBI, 0];
  const space = createFreeSpace({
    path: "/", floorBytes: GIBI, clock,
    freeBytes() {
      asked += 1;
      return free;
    },
  });
  const write = (bytes: number) => {
    const holds = space.holds(bytes, 0);
    if (!holds) return false;
    space.claim(bytes);
    space.settle(bytes);
    free -= bytes;
    return true;
  };
  for (let count = 0; count < 100; count += 1) expect(write(MEBI)).toBe(true);
  expect(asked).toBe(1);
  await clock.advance(100);
  write(MEBI);
  expect(asked).toBe(2);
  let written = 101;
  while (write(MEBI)) written += 1;
  // The floor is kept to the byte, and what others took meanwhile is seen.
  expect([written, asked > 1000]).toEqual([2048, true]);
  free = GIBI + 5 * MEBI;
  expect([space.holds(5 * MEBI, 0), space.holds(6 * MEBI, 0)]).toEqual([true, false]);
});

test("where others could not fill it in a second, it is asked once a second", async () => {
  const clock = createFakeClock();
  let asked = 0;
  const space = createFreeSpace({
    path: "/", floorBytes: GIBI, clock,
    freeBytes() {
      asked += 1;
      return 20 * GIBI;
    },
  });
  for (let count = 0; count < 95; count += 1) {
    expect(space.holds(MEBI, 0)).toBe(true);
    await clock.advance(20);
  }
  expect(asked).toBe(2);
});
