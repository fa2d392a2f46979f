import type { Context } from "hono";
import type { Position } from "./cursor.ts";
import type { GatewayEnvironment } from "./environment.ts";

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
  yield `${Object.keys(columns).join(",")}\r\n`;
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
  return c.body(toStream(pages), 200);
}

/** One record as a line of CSV, with its end. @see RFC 4180 section 2 */
function toLine<T>(columns: CsvColumns<T>, record: T): string {
  return `${Object.values(columns).map((read) => cell(read(record))).join(",")}\r\n`;
}

/**
 * What a spreadsheet takes for a formula: `= + - @` and their full-width forms, also behind blanks, and whatever begins with
 * a tab or a line end. A host chooses its own name, so that a name could run a program on the desk of who opens the export.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /^(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])/u;

function cell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A page is read when the client has room for it, and none after it has gone. */
function toStream(pages: AsyncGenerator<string>): ReadableStream<Uint8Array> {
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
