/** Rows have as many cells as `heading`, each as text. Nothing in them is trusted to be printable. */
export interface Table {
  readonly heading: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** So many of its columns are shown however narrow the screen is, the others where there is room; all unless given. */
  readonly keptColumns?: number;
  /** A column whose cells have colors on a terminal that has them: one of each row, or null. */
  readonly colored?: { readonly column: number; readonly colors: readonly (Color | null)[] };
}

/**
 * Rows under a heading, in columns as wide as their widest cell; the last column is never padded. Where that is wider than `width`, cells
 * go on in lines below, broken behind blanks and commas: nothing is cut off, and what has no such place stays whole however wide;
 * `UNBROKEN` is a blank that is no such place.
 * Control characters, which a device may have put into its own name, are shown as `?` so that none reaches the terminal.
 */
export function formatTable({ heading, rows, keptColumns = heading.length, colored }: Table, width = Number.POSITIVE_INFINITY, hasColors = false): string {
  const all = [heading, ...rows].map((row) => row.map(printable));
  const shown = fitColumns(leastWidths(all), keptColumns, width);
  const cells = all.map((row) => row.slice(0, shown));
  const widths = fitWidths(cells, width);
  return cells.flatMap((row, index) => {
    const columns = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
    const height = Math.max(1, ...columns.map(({ length }) => length));
    // The heading is the first row of cells.
    const color = hasColors && index > 0 ? colored?.colors[index - 1] ?? null : null;
    const pad = (text: string, column: number) => {
      const padded = column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0);
      return column === colored?.column ? paint(padded, color) : padded;
    };
    return Array.from({ length: height }, (_, line) => columns.map((lines, column) => pad(lines[line] ?? "", column)).join(GAP).trimEnd());
  }).join("\n").replaceAll(UNBROKEN, " ");
}

/** Colors that a terminal of any kind has. */
export type Color = keyof typeof COLORS;

/** @see ECMA-48 8.3.117, SGR */
const COLORS = { "bold red": "1;31", red: "31", yellow: "33", cyan: "36" } as const;

/** @returns `text` in a color, or as it is. Blanks around it have none. */
export function paint(text: string, color: Color | null): string {
  const plain = text.trim();
  return color === null || plain === "" ? text : text.replace(plain, () => `\u001B[${COLORS[color]}m${plain}\u001B[0m`);
}

/** @returns `text` with every control character as `?`. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** @returns The text in lines of at most `width`, but for words that are longer. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of text.length <= width ? [text] : piecesOf(text)) {
    if (line !== "" && line.length + piece.trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += piece;
  }
  return [...lines, line.trimEnd()];
}

const GAP = "  ";
/** The no-break space. */
export const UNBROKEN = "\u00A0";

function piecesOf(text: string): readonly string[] {
  return text.match(/[^ ,]*[ ,]+|[^ ,]+/g) ?? [];
}

/** Of each column its longest word. */
function leastWidths(cells: readonly (readonly string[])[]): readonly number[] {
  const least = (text: string) => Math.max(0, ...piecesOf(text).map((piece) => piece.trimEnd().length));
  return (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => least(row[column] ?? ""))));
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}

/** How many columns have room. */
function fitColumns(least: readonly number[], kept: number, width: number): number {
  let count = least.length;
  while (count > kept && sumWidths(least.slice(0, count)) > width) count -= 1;
  return count;
}

/** The widest column gives way first, and none below its longest word. */
function fitWidths(cells: readonly (readonly string[])[], width: number): readonly number[] {
  const least = leastWidths(cells);
  const widths = least.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  for (let over = sumWidths(widths) - width; over > 0; over -= 1) {
    const spare = widths.map((one, column) => (one > (least[column] ?? 0) ? one : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? 0) === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
