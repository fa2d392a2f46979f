import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createLiveClock, createReplayClock } from "./bus-clock.ts";

const FILE = Date.UTC(2019, 4, 1);

test("while a frame is handed over, the live clock shows when it was captured", async () => {
  const machine = createFakeClock();
  const clock = createLiveClock(machine);
  await machine.advance(5000);
  clock.enter((machine.now() - 300) * 1000);
  expect([clock.now() - machine.now(), clock.monotonic()]).toEqual([-300, 4700]);
  clock.leave();
  expect([clock.now() - machine.now(), clock.monotonic()]).toEqual([0, 5000]);
  clock.enter((machine.now() - 300) * 1000);
  expect(clock.monotonic()).toBe(5000);
});

test("a frame from the future, or from before the clock was set, counts as captured now", async () => {
  const machine = createFakeClock();
  const clock = createLiveClock(machine);
  await machine.advance(60_000);
  for (const offset of [-11_000, 1, 86_400_000, Number.NaN]) {
    clock.enter((machine.now() + offset) * 1000);
    expect([clock.now(), clock.monotonic()]).toEqual([machine.now(), machine.monotonic()]);
    clock.leave();
  }
});

test("a file's timers fire between its frames, at their own times and in their order", () => {
  const clock = createReplayClock(createFakeClock());
  const fired: string[] = [];
  const note = (what: string) => void fired.push(`${what} ${clock.monotonic()}`);
  const stop = clock.every(400, () => note("every"));
  clock.after(900, () => note("after"));
  clock.after(950, () => note("cancelled"))();
  clock.enter(FILE * 1000);
  expect([clock.now(), clock.monotonic(), fired]).toEqual([FILE, 0, []]);
  clock.enter((FILE + 1000) * 1000);
  expect(clock.now()).toBe(FILE + 1000);
  expect(fired).toEqual(["every 400", "every 800", "after 900"]);
  stop();
  // Out of order in the file: time stays.
  clock.enter((FILE + 500) * 1000);
  expect([clock.monotonic(), fired.length]).toEqual([1000, 3]);
});

test("a year of silence in a file fires its timers for a minute, and is a year", () => {
  const clock = createReplayClock(createFakeClock());
  let fired = 0;
  clock.every(500, () => {
    fired += 1;
  });
  clock.enter(FILE * 1000);
  const year = 365 * 86_400_000;
  clock.enter((FILE + year) * 1000);
  expect([clock.now(), clock.monotonic(), fired]).toEqual([FILE + year, year, 120]);
});

test("a time that no date can hold changes nothing, at the start and later", () => {
  const clock = createReplayClock(createFakeClock(FILE));
  for (const at of [2 ** 64, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY]) clock.enter(at);
  expect([clock.now(), clock.monotonic()]).toEqual([FILE, 0]);
  clock.enter((FILE + 1000) * 1000);
  clock.enter(2 ** 63);
  expect([clock.now(), clock.monotonic()]).toEqual([FILE + 1000, 0]);
});

test("after its last frame a file's time goes on as the machine's", async () => {
  const machine = createFakeClock();
  const clock = createReplayClock(machine);
  let fired = 0;
  clock.after(2000, () => {
    fired += 1;
  });
  clock.enter(FILE * 1000);
  const stop = clock.follow();
  await machine.advance(1900);
  expect(fired).toBe(0);
  await machine.advance(200);
  expect([fired, clock.now()]).toEqual([1, FILE + 2100]);
  stop();
  await machine.advance(1000);
  expect(clock.now()).toBe(FILE + 2100);
});
