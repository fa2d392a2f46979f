import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

function openPace() {
  let now = 5000;
  const delays: number[] = [];
  const held: number[] = [];
  const pace = createPace({
    now: () => now,
    after(delayMs) {
      delays.push(delayMs);
      return () => {};
    },
    onHeld: (until) => void held.push(until - now),
  });
  return {
    pace, held,
    pass(ms: number) {
      now += ms;
    },
    ask(count: number) {
      delays.length = 0;
      for (let asked = 0; asked < count; asked += 1) void pace.take();
      return [...delays];
    },
    say: (remaining: string | null, limit: string | null = "1000") => pace.learn({ get: (name) => (name === "x-ratelimit-limit" ? limit : remaining) }),
  };
}

test("of many requests at once eight go, and the others after more than a second, in their order", () => {
  const { ask, pass, held } = openPace();
  expect(ask(16)).toEqual(Array.from({ length: 8 }, () => 1150));
  pass(10_000);
  expect(ask(1)).toEqual([]);
  expect(held).toEqual([]);
});

test("as many go at once as the collector says that it takes, but two; what it says once others have used some changes nothing", () => {
  const { ask, pass, say } = openPace();
  ask(1);
  say("19");
  pass(2000);
  expect(ask(19)).toEqual([1150]);
  say("3");
  pass(5000);
  expect(ask(19)).toEqual([1150]);
});

test("a collector that takes few, or says what is no number, is not asked for more than that", () => {
  const { ask, pass, say } = openPace();
  say("none", "-1");
  say(null, null);
  say("0");
  pass(2000);
  expect(ask(3)).toEqual([1150, 2300]);
});

test("within a minute no more go than the collector takes, but two, and it is said how long they wait", () => {
  const { ask, pass, say, held } = openPace();
  say("999", "20");
  expect(ask(18)).toEqual([]);
  pass(10_000);
  expect(ask(1)).toEqual([51_000]);
  expect(held).toEqual([51_000]);
  pass(52_000);
  expect(ask(17)).toEqual([]);
});

test("another token has used nothing", () => {
  const { pace, ask } = openPace();
  ask(8);
  pace.renew();
  expect(ask(8)).toEqual([]);
});
