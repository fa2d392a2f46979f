import { array, assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { formatCsvLine, parseCsv } from "./csv.ts";

test("what is written is read back, whatever is in it", () => {
  const line = array(string({ unit: "binary" }), { minLength: 1, maxLength: 6 }).filter((cells) => cells.length > 1 || cells[0] !== "");
  assert(property(array(line, { maxLength: 5 }), (lines) => {
    const read = parseCsv(lines.map(formatCsvLine).join(""));
    expect(read?.map(({ cells }) => cells)).toEqual(lines);
  }), { numRuns: 1000, seed: 7 });
  const tricky = ["=1+1", "'=1", "''", '"', "a\r\nb", " x ", ",", "\t", "-5", "@a", "plain"];
  expect(parseCsv(formatCsvLine(tricky))).toEqual([{ number: 1, cells: tricky }]);
});

test("no cell begins as a formula", () => {
  for (const text of ["=1", "+1", "-1", "@x", "\t=1", " =1", "\r", "\uFF1D1"]) expect(formatCsvLine([text])).toMatch(/^"?'/);
});

test("lines are counted as an editor counts them, with either end, and a byte order mark is none", () => {
  expect(parseCsv('\uFEFFa,b\n\n"x\ny",2\r\nz')).toEqual([
    { number: 1, cells: ["a", "b"] }, { number: 3, cells: ["x\ny", "2"] }, { number: 5, cells: ["z"] },
  ]);
});

test("a quoted cell that does not end is none", () => {
  for (const text of ['"a', 'a,"b', '"a"b', '"a"" ']) expect(parseCsv(text)).toBeNull();
});
