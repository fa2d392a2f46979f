/**
 * Rows under a heading, in columns as wide as their widest cell; the last column is never padded.
 * Control characters, which a device may have put into its own name, are shown as `?` so that none reaches the terminal.
 */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows].map((row) => row.map(printable));
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map(
    (row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ").trimEnd(),
  ).join("\n");
}

/** @returns `text` with every control character as `?`. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}
