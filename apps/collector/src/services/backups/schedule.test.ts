import { expect, test } from "vitest";
import { parseSchedule } from "./schedule.ts";

test.each([
  ["30 3 * * *", true], ["*/15 0-6 * * 1-5", true], ["30 3 * *", false], ["0 30 3 * * *", false], ["61 * * * *", false], ["words", false],
  ["", false],
])("%j is a pattern, or is not", (pattern, isOne) => {
  expect(parseSchedule(pattern) !== null).toBe(isOne);
});

test("a pattern says when it is next, after the moment itself", () => {
  const hourly = parseSchedule("0 * * * *");
  const at = Date.UTC(2026, 0, 1, 5);
  expect([hourly?.next(at), hourly?.next(at - 1), hourly?.next(at + 1)]).toEqual([at + 3_600_000, at, at + 3_600_000]);
  expect(parseSchedule("0 0 30 2 *")?.next(at)).toBeNull();
});
