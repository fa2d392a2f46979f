import { expect, test } from "vitest";
import { formatKey } from "../names/name-key.ts";
import { createDatedListReader } from "./dated-list.ts";

function read(...pieces: readonly string[]) {
  const rules: [string, number][] = [];
  const reader = createDatedListReader("domains", { mayRewrite: false, origin: null, day: 7 }, (rule, day) => rules.push([formatKey(rule.key), day]));
  for (const piece of pieces) reader.push(new TextEncoder().encode(piece));
  return { rules, report: reader.end() };
}

test("lines have the day of the last mark before them, also over pieces", () => {
  const { rules, report } = read("a.example\n#day 20\nb.example\n# other\nc.example\n#day 30\n", "d.example\n#day 65536\ne.example");
  expect(rules).toEqual([["a.example", 7], ["b.example", 20], ["c.example", 20], ["d.example", 30], ["e.example", 65_535]]);
  expect(report).toMatchObject({ rules: 5, refused: 0 });
});

test("a mark that is cut, empty, or in the middle of a line does no harm", () => {
  expect(read("#day").rules).toEqual([]);
  expect(read("#day \na.example").rules).toEqual([["a.example", 0]]);
  expect(read("a.example #day 9\nb.example").rules.map(([name, day]) => [name, day])).toEqual([["a.example", 7], ["b.example", 7]]);
  expect(read("#day 99999999999999999999\na.example").rules).toEqual([["a.example", 65_535]]);
});
