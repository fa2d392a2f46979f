/** Lines of a master file as words. @see RFC 1035 section 5.1 */

/** One entry: a record or a directive, its parentheses undone. */
export interface MasterEntry {
  /** The line begins with space: the record has the owner of the record before. */
  readonly hasNoOwner: boolean;
  /** Escapes stay as they are but in quotes, where they are undone. */
  readonly words: readonly string[];
}

/** Puts lines together until their parentheses are closed. */
export interface MasterLines {
  /** @returns The entry that ends here; null where there is none yet, or nothing on the line; or a reason. */
  push(line: string): MasterEntry | { readonly reason: string } | null;
  readonly isOpen: () => boolean;
}

/** Words of an entry over all its lines. No record of a policy zone has as many. */
const MAX_WORDS = 512;

interface Open {
  readonly hasNoOwner: boolean;
  words: string[];
  depth: number;
}

/** Begins at the start of a file. */
export function createMasterLines(): MasterLines {
  let open: Open | null = null;
  return {
    isOpen: () => open !== null,
    push(line) {
      const entry: Open = open ?? { hasNoOwner: line.startsWith(" ") || line.startsWith("\t"), words: [], depth: 0 };
      const reason = readWords(line, entry);
      open = null;
      if (reason !== null) return { reason };
      if (entry.words.length > MAX_WORDS) return { reason: "has too many words" };
      if (entry.depth > 0) {
        open = entry;
        return null;
      }
      return entry.words.length === 0 ? null : { hasNoOwner: entry.hasNoOwner, words: entry.words };
    },
  };
}

/** Appends a line's words. @returns A reason where it cannot be read. */
function readWords(line: string, entry: Open): string | null {
  let at = 0;
  while (at < line.length) {
    const character = line[at] as string;
    if (character === ";") return null;
    if (character === "(" || character === ")") {
      entry.depth += character === "(" ? 1 : -1;
      if (entry.depth < 0 || entry.depth > 1) return "has parentheses that do not fit";
      at += 1;
    } else if (character === " " || character === "\t" || character === "\r") {
      at += 1;
    } else if (character === "\"") {
      const quoted = readQuoted(line, at + 1);
      if (quoted === null) return "has a quote without an end";
      entry.words.push(quoted.text);
      at = quoted.end;
    } else {
      const end = endOfWord(line, at);
      entry.words.push(line.slice(at, end));
      at = end;
    }
  }
  return null;
}

function endOfWord(line: string, start: number): number {
  let at = start;
  while (at < line.length && !" \t\r;()\"".includes(line[at] as string)) at += line[at] === "\\" ? 2 : 1;
  return Math.min(at, line.length);
}

function readQuoted(line: string, start: number): { readonly text: string; readonly end: number } | null {
  let text = "";
  for (let at = start; at < line.length; at += 1) {
    const character = line[at] as string;
    if (character === "\"") return { text, end: at + 1 };
    const digits = character === "\\" ? line.slice(at + 1, at + 4) : "";
    if (/^\d{3}$/.test(digits)) {
      text += String.fromCharCode(Number(digits) & 0xff);
      at += 3;
    } else if (character === "\\") {
      at += 1;
      text += line[at] ?? "";
    } else text += character;
  }
  return null;
}

/** Seconds, or BIND's `1h30m`. @returns Null for what is no time. */
export function parseTtl(text: string): number | null {
  if (text.length > 20) return null;
  let total = 0;
  let digits = "";
  for (const character of text.toLowerCase()) {
    if (character >= "0" && character <= "9") {
      digits += character;
      continue;
    }
    const unit = TTL_UNITS[character];
    if (unit === undefined || digits === "") return null;
    total += Number(digits) * unit;
    digits = "";
  }
  if (digits !== "") total += Number(digits);
  return text === "" || total > MAX_TTL_SECONDS ? null : total;
}

const TTL_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** RFC 2181 section 8. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
