import { nextTurn } from "@lanthorn/runtime";
import type * as z from "zod";
import { type CsvLine, MAX_CELL_LENGTH, MAX_CELLS, parseCsv } from "../../gateway/csv/csv-reader.ts";
import { badRequest } from "../../gateway/route.ts";

/** A table that can be imported. */
export interface ImportTable<T> {
  /** Columns that a file may have; the first is the one that it must have. */
  readonly columns: readonly [string, ...string[]];
  readonly schema: z.ZodType<T>;
}

/** A line that is as it should be. */
export interface ImportLine<T> {
  readonly value: T;
  /** Only the columns that the file has, by their names in the schema. */
  readonly given: Readonly<Record<string, unknown>>;
}

const MAX_LINES = 10_000;
const MAX_FAULTS = 100;
/** Lines read or written at a time: a few milliseconds, in which the collector does nothing else. */
const LINES_AT_ONCE = 25;

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Columns that an export has for people to read; they change nothing. */
const SHOWN_COLUMNS: ReadonlySet<string> = new Set(["id", "prefix_name", "observed_mac", "observed_hostname", "observed_last_seen"]);

/** Cells that are no texts. An empty one says that there is none. */
const CELLS: Readonly<Record<string, (text: string) => unknown>> = {
  vlan_id: (text) => (text === "" ? null : Number(text)),
  mac: (text) => (text === "" ? null : text),
  prefix: (text) => text.trim(),
  ip: (text) => text.trim(),
};

/** The same items, with time for others after some of them. */
export async function* inPieces<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    if (count % LINES_AT_ONCE === 0) await nextTurn();
    count += 1;
    yield item;
  }
}

/**
 * Reads and checks all lines of a CSV text.
 * @param sites Ids of sites by their names, and by themselves.
 * @throws ApiError BAD_REQUEST naming each line that is wrong.
 */
export async function readImportLines<T>(
  csv: string, table: ImportTable<T>, sites: ReadonlyMap<string, string>,
): Promise<readonly ImportLine<T>[]> {
  const lines: ImportLine<T>[] = [];
  const faults: Fault[] = [];
  let names: readonly string[] | null = null;
  for await (const line of inPieces(parseCsv(csv))) {
    if ("cells" in line && line.cells.length === 0) continue;
    if (names === null) {
      names = readHead(line, table.columns);
      continue;
    }
    const read = readLine(line, { names, table, sites });
    if ("faults" in read) faults.push(...read.faults);
    else lines.push(read);
    if (faults.length >= MAX_FAULTS) break;
    if (lines.length > MAX_LINES) throw badRequest([{ path: ["csv", line.number], message: `must have at most ${MAX_LINES} lines` }]);
  }
  if (names === null) throw badRequest([{ path: ["csv", 1], message: columnsWanted(table.columns) }]);
  if (faults.length > 0) throw badRequest(faults.slice(0, MAX_FAULTS));
  return lines;
}

/** @returns The names of the columns. @throws ApiError BAD_REQUEST for what is no table of these columns. */
function readHead(line: CsvLine, columns: ImportTable<unknown>["columns"]): readonly string[] {
  const fault = (message: string) => badRequest([{ path: ["csv", line.number], message }]);
  if (!("cells" in line)) throw fault(FAULTS[line.fault]);
  const names = line.cells.map((cell) => cell.trim());
  const unknown = names.find((name) => !columns.includes(name) && !SHOWN_COLUMNS.has(name));
  if (unknown !== undefined) throw fault(`there is no column "${unknown.slice(0, 60)}": ${columnsWanted(columns)}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw fault(`the column "${twice.slice(0, 60)}" occurs twice`);
  if (!names.includes(columns[0])) throw fault(`the column "${columns[0]}" is missing: ${columnsWanted(columns)}`);
  return names;
}

function columnsWanted(columns: readonly string[]): string {
  return `the first line names the columns, some of ${columns.join(", ")}`;
}

const FAULTS = {
  quote: "a quoted cell must end with a quote, and a comma or the line's end must follow",
  cells: `a line may have ${MAX_CELLS} cells`,
  length: `a cell may have ${MAX_CELL_LENGTH} characters`,
} as const;

function readLine<T>(line: CsvLine, { names, table, sites }: {
  readonly names: readonly string[]; readonly table: ImportTable<T>; readonly sites: ReadonlyMap<string, string>;
}): ImportLine<T> | { readonly faults: readonly Fault[] } {
  const { number } = line;
  const fault = (message: string, ...path: string[]) => ({ faults: [{ path: ["csv", number, ...path], message }] });
  if (!("cells" in line)) return fault(FAULTS[line.fault]);
  const { cells } = line;
  if (cells.length !== names.length) return fault(`must have ${names.length} cells, as the first line, and has ${cells.length}`);
  const given: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) {
    const text = cells[at] ?? "";
    if (name === "site") {
      given["site_id"] = text === "" ? null : sites.get(text);
      if (given["site_id"] === undefined) return fault("there is no such site", "site");
    } else if (name === "status" && text === "") continue;
    else if (table.columns.includes(name)) given[name] = (CELLS[name] ?? String)(text);
  }
  const parsed = table.schema.safeParse(given);
  if (parsed.success) return { value: parsed.data, given };
  return { faults: parsed.error.issues.map(({ path, message }) => ({ path: ["csv", number, ...path], message })) };
}
