import { parse } from "csv-parse/sync";
import { expect } from "vitest";

/** Cells as a reader that keeps to RFC 4180 takes them: as many in each line, and each line ended by CR LF. */
export function parseCsv(text: string): string[][] {
  expect(text.endsWith("\r\n")).toBe(true);
  const rows = parse(text, { record_delimiter: "\r\n" });
  expect(rows.flat().length).toBeGreaterThan(0);
  return rows;
}
