import { DEVICE_FILTER_TERMS } from "@lanthorn/contract";

/** What may be written where somebody writes: how it is shown, and the whole text with it. */
export interface Suggestion {
  readonly label: string;
  readonly text: string;
  /** Where writing goes on. */
  readonly caret: number;
}

/** Values by the words before their colon. */
export type ValuesOf = Readonly<Record<string, readonly string[]>>;

const MAX_SUGGESTIONS = 8;
/** What the filter language would read as more than a value. */
const NEEDS_QUOTES = /[\s,\\!<>"]/;

/** The word before the colon that is written at the caret; null where none is. */
export function wordAt(text: string, caret: number): string | null {
  return partAt(text, caret).word;
}

/** What the part at the caret may become: words of the filter language, or values of the word that is there. */
export function suggest(text: string, caret: number, values: ValuesOf): readonly Suggestion[] {
  const { start, minus, word, value } = partAt(text, caret);
  const rest = text.slice(caret);
  const become = (label: string, part: string): Suggestion => ({ label, text: `${text.slice(0, start)}${minus}${part}${rest}`, caret: start + minus.length + part.length });
  if (word === null) {
    return value === "" ? [] : DEVICE_FILTER_TERMS.filter((term) => term.startsWith(value)).map((term) => become(`${minus}${term}:`, `${term}:`));
  }
  // In quotes a comma is a part of the value.
  const listed = value.startsWith('"') ? [] : value.split(",").slice(0, -1);
  const begun = value.startsWith('"') ? value.slice(1) : value.split(",").at(-1) ?? "";
  const before = listed.map((each) => `${each},`).join("");
  return (values[word] ?? [])
    .filter((each) => each !== begun && !listed.includes(each) && each.toLowerCase().includes(begun.toLowerCase()) && (listed.length === 0 || !needsQuotes(word, each)))
    .slice(0, MAX_SUGGESTIONS)
    .map((each) => become(each, `${word}:${before}${needsQuotes(word, each) ? `"${each.replaceAll(/["\\]/g, String.raw`\$&`)}"` : each}${rest.startsWith(" ") ? "" : " "}`));
}

/** `>=high` and `<7d` are not in quotes: there the sign means something. */
function needsQuotes(word: string, value: string): boolean {
  return word !== "cve" && word !== "seen" && (NEEDS_QUOTES.test(value) || value.startsWith("-"));
}

/** The part of the filter that ends at the caret; in quotes a blank ends none. */
function partAt(text: string, caret: number): { readonly start: number; readonly minus: string; readonly word: string | null; readonly value: string } {
  let [start, isQuoted] = [0, false];
  for (let index = 0; index < caret; index += 1) {
    if (text[index] === '"') isQuoted = !isQuoted;
    else if (text[index] === " " && !isQuoted) start = index + 1;
  }
  const part = text.slice(start, caret);
  const minus = part.startsWith("-") ? "-" : "";
  const [own, colon] = [part.slice(minus.length), part.indexOf(":") - minus.length];
  const word = colon < 0 ? null : own.slice(0, colon);
  return word !== null && DEVICE_FILTER_TERMS.includes(word) ? { start, minus, word, value: own.slice(colon + 1) } : { start, minus, word: null, value: own };
}
