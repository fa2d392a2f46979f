import type { Context } from "hono";
import type { Position } from "../cursor.ts";
import type { GatewayEnvironment } from "../environment.ts";

/** A table's columns by their names, and how a record fills them. */
export type CsvColumns<T> = Readonly<Record<string, (record: T) => string>>;

/** Where an export goes on reading: rows to skip, or the row after which to go on. */
export type From = number | Position;

/** What is read, held and handed over at a time. */
export const EXPORT_ROWS = 500;

/**
 * A list as CSV, with a header line, some hundreds of rows at a time.
 * @param list.read At most `EXPORT_ROWS` rows from there on; fewer are the last.
 */
export async function* csvPages<R, T>(
  columns: CsvColumns<T>,
  list: { readonly read: (from: From) => Promise<readonly R[]>; readonly positionOf: (row: R) => Position; readonly show: (row: R) => T },
): AsyncGenerator<string> {
  yield formatCsvLine(Object.keys(columns));
  for (let from: From = 0; ;) {
    const rows = await list.read(from);
    if (rows.length > 0) yield rows.map((row) => toLine(columns, list.show(row))).join("");
    const last = rows.at(-1);
    if (last === undefined || rows.length < EXPORT_ROWS) return;
    from = list.positionOf(last);
  }
}

/** Answers with pages of CSV as they are read, to be kept as a file. */
export function answerCsv(c: Context<GatewayEnvironment>, fileName: string, pages: AsyncGenerator<string>) {
  c.header("content-type", "text/csv; charset=utf-8; header=present");
  c.header("content-disposition", `attachment; filename="${fileName}"`);
  return c.body(streamText(pages), 200);
}

/** One record as a line of CSV, with its end. */
export function toLine<T>(columns: CsvColumns<T>, record: T): string {
  return formatCsvLine(Object.values(columns).map((read) => read(record)));
}

/**
 * What a spreadsheet takes for a formula: `= + - @` and their full-width forms, also behind blanks, and whatever begins with
 * a tab or a line end. A host chooses its own name, so that a name could run a program on the desk of who opens the export.
 * Apostrophes before it count as well, so that one more can be taken away again.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export const FORMULA = /^'*(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])/u;

/** One line of CSV with its end; a cell that could be a formula begins with an apostrophe. @see RFC 4180 section 2 */
export function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map(formatCell).join(",")}\r\n`;
}

function formatCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A page is read when the client has room for it, and none after it has gone. */
function streamText(pages: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pages.return(undefined);
    },
  }, { highWaterMark: 1 });
}
