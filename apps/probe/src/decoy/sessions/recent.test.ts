import { expect, test } from "vitest";
import { createRecent } from "./recent.ts";

test("who was silent the longest is forgotten, or who was silent too long; a flood costs no look at all that is there", () => {
  const recent = createRecent<number>(1000, 60_000);
  const before = process.cpuUsage();
  for (let number = 0; number < 300_000; number += 1) {
    recent.of("there", 0, () => -1);
    recent.of(`flood${number}`, 0, () => number);
  }
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(1_500_000);
  expect([recent.find("there", 0), recent.find("flood299002", 0), recent.find("flood299001", 0), recent.find("flood299000", 0)]).toEqual([-1, 299_002, 299_001, null]);
  expect([recent.find("there", 60_000), recent.find("there", 60_001), recent.of("there", 60_001, () => 7)]).toEqual([-1, null, 7]);
});
