import { expect, test } from "vitest";
import { endReport, noteReport, readReporters, writeReporters } from "./reporters.ts";

const since = "2026-06-01T00:00:00.000Z";

test("a probe that counts down and up again is counted once", () => {
  const reporters = readReporters("{}");
  expect([100, 1, 100, 101].map((times) => noteReport(reporters, "a", { times, since }))).toEqual([100, 0, 0, 1]);
  expect(noteReport(readReporters(writeReporters(reporters)), "a", { times: 103, since })).toBe(2);
});

test("a name that objects have is a name like others", () => {
  const reporters = readReporters('{"__proto__":{"times":1,"since":"x"}}');
  expect([...reporters.keys()]).toEqual(["__proto__"]);
  expect(noteReport(reporters, "constructor", { times: 2, since })).toBe(2);
});

test("the sixty-fifth probe counts each report once, and keeps nothing open", () => {
  const reporters = readReporters("{}");
  for (let index = 0; index < 64; index += 1) noteReport(reporters, `${index}`, { times: 5, since });
  expect([1, 2].map((times) => noteReport(reporters, "more", { times: 1000 * times, since }))).toEqual([1, 1]);
  for (let index = 0; index < 63; index += 1) expect(endReport(reporters, `${index}`, () => true)).toBe(false);
  expect(endReport(reporters, "63", () => true)).toBe(true);
});
