/** A rule's parts: the words of its header, and its options. */

/** `name:value;` or `name;`. */
export interface RuleOption {
  readonly name: string;
  /** As it stands, without white space at the ends; `null` where there is none. */
  readonly value: string | null;
}

/** A rule cut into its parts, or the reason why it cannot be. */
export type RuleParts =
  | { readonly ok: true; readonly header: readonly string[]; readonly options: readonly RuleOption[] }
  | { readonly ok: false; readonly reason: string };

/** A value with its negation and quotes taken off. */
export interface QuotedValue {
  readonly isNegated: boolean;
  readonly isQuoted: boolean;
  readonly text: string;
}

/**
 * @param text One logical line.
 * @returns The header's words, where brackets keep their white space, and the options in their order.
 */
export function splitRule(text: string): RuleParts {
  const open = text.indexOf("(");
  if (open < 0) return { ok: false, reason: "it has no options in parentheses" };
  if (!text.endsWith(")")) return { ok: false, reason: "its parentheses are not closed" };
  const header = splitHeader(text.slice(0, open));
  if (header === null) return { ok: false, reason: "the header's brackets are not closed" };
  const options = splitOptions(text.slice(open + 1, -1));
  return options === null ? { ok: false, reason: "its last option does not end with a semicolon" } : { ok: true, header, options };
}

function splitHeader(text: string): readonly string[] | null {
  const words: string[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "[") depth += 1;
    else if (character === "]") depth -= 1;
    const isSpace = depth === 0 && isWhite(character);
    if (!isSpace && start < 0) start = at;
    if (isSpace && start >= 0) {
      words.push(text.slice(start, at));
      start = -1;
    }
  }
  return depth === 0 ? words : null;
}

/** The end of the text too. */
function isWhite(character: string): boolean {
  return character === " " || character === "" || /\s/.test(character);
}

const BACKSLASH = 0x5c;

function splitOptions(text: string): readonly RuleOption[] | null {
  const options: RuleOption[] = [];
  let start = 0;
  for (let end = text.indexOf(";"); end >= 0; end = text.indexOf(";", end + 1)) {
    if (end > start && text.charCodeAt(end - 1) === BACKSLASH) continue;
    const option = readOption(text.slice(start, end));
    if (option) options.push(option);
    start = end + 1;
  }
  return text.slice(start).trim() === "" ? options : null;
}

function readOption(text: string): RuleOption | null {
  const colon = text.indexOf(":");
  if (colon < 0) return text.trim() === "" ? null : { name: text.trim(), value: null };
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() };
}

/** @returns What is between the quotes, escapes left alone; `null` where quotes are not closed. */
export function readQuoted(value: string): QuotedValue | null {
  const isNegated = value.startsWith("!");
  const text = isNegated ? value.slice(1).trimStart() : value;
  if (!text.startsWith("\"")) return { isNegated, isQuoted: false, text };
  return text.length < 2 || !text.endsWith("\"") ? null : { isNegated, isQuoted: true, text: text.slice(1, -1) };
}

/** @returns The words between commas, white space taken off. */
export function splitWords(value: string): readonly string[] {
  return value.split(",").map((word) => word.trim());
}

/** @returns The text without the backslashes before quotes, semicolons, colons and backslashes. */
export function unescapeText(text: string): string {
  return text.includes("\\") ? text.replace(/\\(["\\;:])/g, "$1") : text;
}
