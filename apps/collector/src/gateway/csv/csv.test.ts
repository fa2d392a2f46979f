import { array, assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { parseCsv as parseByRfc } from "../../testing/csv.ts";
import { FORMULA, formatCsvLine } from "./csv.ts";
import { MAX_CELL_LENGTH, MAX_CELLS, parseCsv } from "./csv-reader.ts";

test("what is written is read back, whatever is in it", () => {
  const line = array(string({ unit: "binary" }), { minLength: 1, maxLength: 6 }).filter((cells) => cells.length > 1 || cells[0] !== "");
  assert(property(array(line, { maxLength: 5 }), (lines) => {
    const read = [...parseCsv(lines.map(formatCsvLine).join(""))];
    expect(read.map((found) => ("cells" in found ? found.cells : found.fault))).toEqual(lines);
  }), { numRuns: 1000, seed: 7 });
  const tricky = ["=1+1", "'=1", "''", '"', "a\r\nb", " x ", ",", "\t", "-5", "@a", "plain"];
  expect([...parseCsv(formatCsvLine(tricky))]).toEqual([{ number: 1, cells: tricky }]);
});

test("what is written is read by others as it is, but for the apostrophe before a formula", () => {
  const line = array(string({ unit: "binary" }), { minLength: 3, maxLength: 3 });
  assert(property(array(line, { minLength: 1, maxLength: 5 }), (lines) => {
    const shown = lines.map((cells) => cells.map((cell) => (FORMULA.test(cell) ? `'${cell}` : cell)));
    expect(parseByRfc(lines.map(formatCsvLine).join(""))).toEqual(shown);
  }), { numRuns: 1000, seed: 7 });
});

test("no cell begins as a formula", () => {
  for (const text of ["=1", "+1", "-1", "@x", "\t=1", " =1", "\r", "\uFF1D1"]) expect(formatCsvLine([text])).toMatch(/^"?'/);
});

test("lines are counted as an editor counts them, with either end, and a byte order mark is none", () => {
  expect([...parseCsv('\uFEFFa,b\n\n"x\ny",2\r\nz')]).toEqual([
    { number: 1, cells: ["a", "b"] }, { number: 2, cells: [] }, { number: 3, cells: ["x\ny", "2"] }, { number: 5, cells: ["z"] },
  ]);
});

test("a quoted cell that does not end is a fault of the line that it begins in, which is the last", () => {
  for (const text of ['"a', 'a,"b', '"a"b', '"a"" ', '"a"b\nc']) expect([...parseCsv(`x\n${text}`)].slice(1)).toEqual([{ number: 2, fault: "quote" }]);
});

test("a line has so many cells and no more", () => {
  const [most, tooMany] = [",".repeat(MAX_CELLS - 1), ",".repeat(MAX_CELLS)];
  expect([...parseCsv(`${most}\n${tooMany}\n`)]).toEqual([{ number: 1, cells: Array.from({ length: MAX_CELLS }, () => "") }, {
    number: 2, fault: "cells",
  }]);
});

test.each([["plain", ""], ["quoted", '"']])("a %s cell has so many characters and no more", (_, quote) => {
  const cell = (length: number) => `${quote}${"x".repeat(length - quote.length)}${quote}`;
  expect([...parseCsv(`${cell(MAX_CELL_LENGTH)}\n${cell(MAX_CELL_LENGTH + 1)}`)].map((line) => ("fault" in line ? line.fault : line.cells.length)))
    .toEqual([1, "length"]);
});
