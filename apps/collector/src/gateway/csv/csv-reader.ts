import { FORMULA } from "./csv.ts";

/** A line of a CSV text: its cells (none for an empty line), or what is wrong with it. `number` is where it begins, from 1. */
export type CsvLine = { readonly number: number; readonly cells: readonly string[] } | CsvFault;

/**
 * `quote`: a quoted cell does not end, or goes on behind its end. `cells`: there are more than `MAX_CELLS`. `length`: a cell is
 * longer than `MAX_CELL_LENGTH`.
 */
export interface CsvFault {
  readonly number: number;
  readonly fault: "quote" | "cells" | "length";
}

/** Cells of a line: several times what any table here has. Together with the length of a cell, no line takes long. */
export const MAX_CELLS = 100;
/** Characters of a cell as the text has it: twice the longest description, if all of it is quotes. */
export const MAX_CELL_LENGTH = 10_000;

/**
 * Reads CSV line by line, with either line end and with a byte order mark or without. An apostrophe that `formatCsvLine` has
 * put before a formula goes again, so that what was exported is imported as it was. A line with a fault is the last.
 * @see RFC 4180 section 2
 */
export function* parseCsv(text: string): Generator<CsvLine> {
  let [at, number] = [text.startsWith("\uFEFF") ? 1 : 0, 1];
  while (at < text.length) {
    const line = readLine(text, at);
    if (typeof line === "string") {
      yield { number, fault: line };
      return;
    }
    const { cells, end, lines } = line;
    yield { number, cells: cells.length === 1 && cells[0] === "" ? [] : cells };
    number += lines;
    at = end;
  }
}

/** @returns The cells from `start` on, where the next line begins, and how many lines of text these were. */
function readLine(
  text: string, start: number,
): { readonly cells: readonly string[]; readonly end: number; readonly lines: number } | CsvFault["fault"] {
  const cells: string[] = [];
  for (let [at, lines] = [start, 1]; ; at += 1) {
    if (cells.length === MAX_CELLS) return "cells";
    const cell = readCell(text, at);
    if (typeof cell === "string") return cell;
    cells.push(cell.text.startsWith("'") && FORMULA.test(cell.text.slice(1)) ? cell.text.slice(1) : cell.text);
    lines += cell.text.split("\n").length - 1;
    at = cell.end;
    if (text[at] === ",") continue;
    if (text[at] === "\r") at += 1;
    if (text[at] === "\n") at += 1;
    return { cells, end: at, lines };
  }
}

/** What ends a cell without quotes. */
const CELL_END = /[,\r\n]/g;

/** @returns The cell that begins at `at`, and where it ends: at a comma, a line end or the text's end. */
function readCell(text: string, at: number): { readonly text: string; readonly end: number } | "quote" | "length" {
  if (text[at] !== '"') {
    CELL_END.lastIndex = at;
    const end = CELL_END.exec(text)?.index ?? text.length;
    return end - at > MAX_CELL_LENGTH ? "length" : { text: text.slice(at, end), end };
  }
  const parts: string[] = [];
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return "quote";
    if (quote - at > MAX_CELL_LENGTH) return "length";
    if (text[quote + 1] !== '"') {
      const end = quote + 1;
      parts.push(text.slice(from, quote));
      return end === text.length || ",\r\n".includes(text[end] ?? "") ? { text: parts.join(""), end } : "quote";
    }
    parts.push(text.slice(from, quote + 1));
    from = quote + 2;
  }
}
