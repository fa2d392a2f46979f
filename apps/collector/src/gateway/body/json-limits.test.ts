import { expect, test } from "vitest";
import { jsonExcess, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./json-limits.ts";

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const list = (values: number) => `[${Array.from({ length: values }, () => "0").join(",")}]`;

test("a text is measured by its depth and by its values and names", () => {
  expect([jsonExcess(nested(MAX_JSON_DEPTH)), jsonExcess(nested(MAX_JSON_DEPTH + 1))]).toEqual([null, "depth"]);
  // The list itself counts too.
  expect([jsonExcess(list(MAX_JSON_VALUES - 1)), jsonExcess(list(MAX_JSON_VALUES))]).toEqual([null, "values"]);
  const members = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0])));
  expect([jsonExcess(members(MAX_JSON_VALUES / 2 - 1)), jsonExcess(members(MAX_JSON_VALUES / 2))]).toEqual([null, "values"]);
});

test("what is within a string does not count, however it is escaped", () => {
  const marks = String.raw`[{,:\"\\`.repeat(20_000);
  expect(jsonExcess(`["${marks}"]`)).toBe(null);
  expect(jsonExcess(`["${marks}\\\\"${",0".repeat(MAX_JSON_VALUES)}]`)).toBe("values");
  for (const text of ["", '"', String.raw`"\ `.trim(), "]]]]", "{".repeat(3), `"${"x".repeat(100_000)}`]) expect(jsonExcess(text)).toBe(null);
});

test("closing what was never opened gives no room for more depth", () => {
  expect(jsonExcess(`${"]".repeat(1000)}${nested(MAX_JSON_DEPTH + 1)}`)).toBe("depth");
});
