import { expect } from "vitest";

/** Cells as a reader that keeps to RFC 4180 takes them. */
export function parseCsv(text: string): string[][] {
  expect(text.endsWith("\r\n")).toBe(true);
  const rows: string[][] = [];
  let row: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (const [, quoted, plain, end] of text.matchAll(pattern)) {
    row.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  expect(rows.flat().length).toBeGreaterThan(0);
  return rows;
}
