import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

test("of many requests at once eight go, and the others after more than a second, in their order", () => {
  let now = 5000;
  const delays: number[] = [];
  const pace = createPace({
    now: () => now,
    after(delayMs) {
      delays.push(delayMs);
      return () => {};
    },
  });
  for (let count = 0; count < 17; count += 1) void pace();
  expect(delays).toEqual([...Array.from({ length: 8 }, () => 1150), 2300]);
  now += 10_000;
  void pace();
  expect(delays).toHaveLength(9);
});
