import { BATCH_MAX_EVENTS } from "@lanthorn/contract/uplink";
import { expect, test } from "vitest";
import { createBatchLimit } from "./batch-limit.ts";

test("a batch is halved until one event is left, and grows again to the contract's limit", () => {
  const limit = createBatchLimit();
  const sizes = [];
  for (let events = 20; limit.halve(events); events = limit.maxEvents) sizes.push(limit.maxEvents);
  expect(sizes).toEqual([10, 5, 2, 1]);
  expect(limit.maxEvents).toBe(BATCH_MAX_EVENTS);
  limit.halve(4);
  limit.grow();
  expect(limit.maxEvents).toBe(4);
  for (let n = 0; n < 20; n += 1) limit.grow();
  expect(limit.maxEvents).toBe(BATCH_MAX_EVENTS);
});
