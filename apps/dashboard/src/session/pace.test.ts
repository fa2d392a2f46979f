import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

function openPace() {
  let now = 5000;
  const delays: number[] = [];
  const pace = createPace({
    now: () => now,
    after(delayMs) {
      delays.push(delayMs);
      return () => {};
    },
  });
  return {
    pace, pass: (ms: number) => void (now += ms),
    ask(count: number) {
      delays.length = 0;
      for (let asked = 0; asked < count; asked += 1) void pace.take();
      return [...delays];
    },
  };
}

test("of many requests at once eight go, and the others after more than a second, in their order", () => {
  const { ask, pass } = openPace();
  expect(ask(17)).toEqual([...Array.from({ length: 8 }, () => 1150), 2300]);
  pass(10_000);
  expect(ask(1)).toEqual([]);
});

test("as many go at once as the collector says that it takes, but two; what it says once others have used some changes nothing", () => {
  const { pace, ask, pass } = openPace();
  ask(1);
  pace.learn("19");
  pass(2000);
  expect(ask(19)).toEqual([1150]);
  pace.learn("3");
  pass(5000);
  expect(ask(19)).toEqual([1150]);
});

test("a collector that takes few, or says what is no number, is not asked for more than that", () => {
  const { pace, ask, pass } = openPace();
  pace.learn("none");
  pace.learn(null);
  pace.learn("0");
  pass(2000);
  expect(ask(3)).toEqual([1150, 2300]);
});

test("another token has used nothing", () => {
  const { pace, ask } = openPace();
  ask(8);
  pace.renew();
  expect(ask(8)).toEqual([]);
});
