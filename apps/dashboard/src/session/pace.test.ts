import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

/** A pace with a clock of its own, and at which moments requests went, in the order in which they were asked. */
function openPace() {
  let now = 5000;
  let timer: { readonly at: number; readonly task: () => void } | null = null;
  const went: (readonly [asked: number, at: number])[] = [];
  let asked = 0;
  const held: number[] = [];
  const pace = createPace({
    now: () => now,
    after(delayMs, task) {
      const own = { at: now + delayMs, task };
      timer = own;
      return () => {
        if (timer === own) timer = null;
      };
    },
    onHeld: () => void held.push(pace.heldUntil()),
  });
  return {
    pace, held,
    pass(ms: number) {
      const end = now + ms;
      while (timer !== null && timer.at <= end) {
        const { at, task } = timer;
        [now, timer] = [at, null];
        task();
      }
      now = end;
    },
    async ask(count: number) {
      for (let left = count; left > 0; left -= 1) {
        const own = (asked += 1);
        void pace.take().then(() => went.push([own, now]));
      }
      await Promise.resolve();
    },
    /** How many went, and when, since the last look; in their order. */
    async went() {
      await Promise.resolve();
      const seen = went.splice(0);
      expect(seen.map(([own]) => own)).toEqual(seen.map(([own]) => own).toSorted((a, b) => a - b));
      return seen.length;
    },
    say: (remaining: string | null, limit: string | null = "1000") => pace.answered({ get: (name) => (name === "x-ratelimit-limit" ? limit : remaining) }),
    answer(count: number) {
      for (let left = count; left > 0; left -= 1) pace.answered(null);
    },
  };
}

test("of many requests at once eight go, and the others more than a second after the answers, however late these are, in their order", async () => {
  const { ask, answer, pass, went, held } = openPace();
  await ask(17);
  expect(await went()).toBe(8);
  pass(5000);
  expect(await went()).toBe(0);
  answer(8);
  pass(1149);
  expect(await went()).toBe(0);
  pass(1);
  expect(await went()).toBe(8);
  answer(8);
  pass(1150);
  expect(await went()).toBe(1);
  expect(held).toEqual([]);
});

test("as many go at once as the collector says that it takes, but two, also of those that wait; what it says once others have used some changes nothing", async () => {
  const { ask, answer, pass, say, went } = openPace();
  await ask(30);
  expect(await went()).toBe(8);
  say("19");
  expect(await went()).toBe(10);
  answer(17);
  pass(2000);
  expect(await went()).toBe(12);
  say("3");
  answer(11);
  pass(5000);
  await ask(19);
  expect(await went()).toBe(18);
});

test("a collector that takes few, or says what is no number, is not asked for more than that", async () => {
  const { ask, answer, pass, say, went } = openPace();
  say("none", "-1");
  say(null, null);
  say("0");
  await ask(3);
  expect(await went()).toBe(1);
  answer(1);
  pass(1150);
  expect(await went()).toBe(1);
  answer(1);
  pass(1150);
  expect(await went()).toBe(1);
});

test("within a minute no more go than the collector takes, but two, and it is said until when the next one waits", async () => {
  const { pace, ask, answer, pass, say, went, held } = openPace();
  say("999", "20");
  await ask(18);
  answer(18);
  pass(10_000);
  await ask(1);
  expect(await went()).toBe(18);
  expect([held, pace.heldUntil()]).toEqual([[66_000], 66_000]);
  pass(51_000);
  expect([await went(), held, pace.heldUntil()]).toEqual([1, [66_000, 0], 0]);
});

test("another token has used nothing, is known nothing of, and holds nobody", async () => {
  const { pace, ask, answer, say, went, held } = openPace();
  say("999", "20");
  await ask(19);
  answer(18);
  expect(await went()).toBe(18);
  pace.renew();
  expect([await went(), held.at(-1)]).toEqual([1, 0]);
  await ask(8);
  expect(await went()).toBe(7);
});
