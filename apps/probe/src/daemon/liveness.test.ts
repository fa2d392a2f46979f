import { expect, test } from "vitest";
import type { OutboxState } from "../queue/outbox.ts";
import { createLiveness } from "./liveness.ts";

const SOUND: OutboxState = {
  queueId: "q", events: 0, bytes: 0, oldestAt: null, dropped: 0, after: 0, lastSeq: 0, writable: true, inMemory: 0,
};

function watch() {
  const world = { turning: true, outbox: SOUND, counters: { frames: 0, dropped: 0 } };
  return { world, alive: createLiveness({ turning: () => world.turning, outbox: () => world.outbox, counters: () => world.counters }) };
}

test("a quiet network and a full disk are no reasons to start anew", () => {
  const { world, alive } = watch();
  expect([alive(), alive()]).toEqual([true, true]);
  world.outbox = { ...SOUND, queueId: "", writable: false };
  expect(alive()).toBe(true);
});

test("the watchdog is not fed while the health watch stands, the database is silent, or frames are lost and none come through", () => {
  const { world, alive } = watch();
  world.turning = false;
  expect(alive()).toBe(false);
  world.turning = true;
  world.outbox = { ...SOUND, queueId: "" };
  expect(alive()).toBe(false);
  world.outbox = SOUND;
  world.counters = { frames: 0, dropped: 500 };
  expect(alive()).toBe(false);
  world.counters = { frames: 900, dropped: 700 };
  expect(alive()).toBe(true);
});
