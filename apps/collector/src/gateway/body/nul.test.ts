import { processorMs } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { placeOfNul } from "./nul.ts";

test("U+0000 is found in texts and names at any depth, and six letters that look like it are not", () => {
  expect(placeOfNul(String.raw`{"a":[{"b":"x\u0000"}]}`)).toEqual(["a", "0", "b"]);
  expect(placeOfNul(String.raw`{"a":{"b\u0000":1}}`)).toEqual(["a"]);
  expect(placeOfNul(String.raw`"\u0000"`)).toEqual([]);
  for (const text of [String.raw`{"a":"\\u0000"}`, "{}", String.raw`{"\u0000`]) expect(placeOfNul(text)).toBe(null);
});

test("a megabyte of nested members takes time by its length, not by its length times its depth", () => {
  const wide = String.raw`[${"0,".repeat(100)}"x"]`;
  const [opened, closed] = ['{"m":[0,0,0,0],"n":'.repeat(3000), "}".repeat(3000)];
  const body = `${opened}[${`${wide},`.repeat(4000)}"\\u0000x"]${closed}`;
  let place: ReturnType<typeof placeOfNul> = null;
  expect(processorMs(() => (place = placeOfNul(body)))).toBeLessThan(3000);
  expect(place).toHaveLength(3001);
});
