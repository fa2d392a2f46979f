import { formatTable } from "./table.ts";

/** What a command has to say: for programs, and for people as a table or as text. */
export interface Answer {
  readonly json: unknown;
  readonly table?: { readonly heading: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly text?: string;
  /** For people, below the table. */
  readonly notes?: readonly string[];
}

/** @returns The answer as it is printed. */
export function formatAnswer(answer: Answer, asJson: boolean): string {
  if (asJson) return JSON.stringify(answer.json, null, 2);
  const notes = (answer.notes ?? []).map((note) => `\n\n${note}`).join("");
  if (answer.table) return (answer.table.rows.length === 0 ? "none" : formatTable(answer.table.heading, answer.table.rows)) + notes;
  return answer.text ?? "";
}
