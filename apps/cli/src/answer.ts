import { formatTable, printable, type Table, wrap } from "./table.ts";

/** What a command has to say: for programs, and for people as a table or as text. */
export interface Answer {
  readonly json: unknown;
  readonly table?: Table;
  readonly text?: string | ((width: number, hasColors: boolean) => string);
  /** For people, below the table. Nothing in them is trusted to be printable, but for ends of lines. */
  readonly notes?: readonly string[];
}

/**
 * @param width Of the screen, in characters; endless for who reads it line by line.
 * @param hasColors Whether it is for a screen that has colors.
 * @returns The answer as it is printed.
 */
export function formatAnswer(answer: Answer, asJson: boolean, width = Number.POSITIVE_INFINITY, hasColors = false): string {
  if (asJson) return JSON.stringify(answer.json, null, 2);
  const notes = (answer.notes ?? []).map((note) => `\n\n${wrap(note.split("\n").map(printable).join("\n"), width).join("\n")}`).join("");
  if (answer.table) return (answer.table.rows.length === 0 ? "none" : formatTable(answer.table, width, hasColors)) + notes;
  return typeof answer.text === "function" ? answer.text(width, hasColors) : answer.text ?? "";
}
