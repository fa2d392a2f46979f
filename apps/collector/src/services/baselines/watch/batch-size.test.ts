import { expect, test } from "vitest";
import { createBatchSize } from "./batch-size.ts";

test("a batch is larger after short ones and half as large after a long one, within bounds", () => {
  const size = createBatchSize();
  const after = (ms: number, times = 1) => {
    for (let batch = 0; batch < times; batch += 1) size.took(ms);
    return size.now();
  };
  expect([size.now(), after(1), after(1), after(6), after(50), after(50), after(1, 100), after(50)]).toEqual([4, 8, 12, 12, 6, 4, 64, 32]);
});
