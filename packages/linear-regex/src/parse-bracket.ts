import { type CharacterSet, complementOf, intersectionOf, POSIX_SETS, unionOf } from "./character-set.ts";
import { type Cursor, UnsupportedSyntax } from "./cursor.ts";
import { foldedFor, type RegexOptions, shorthandsOf } from "./options.ts";
import { parseEscapedUnit } from "./parse-escape.ts";

/**
 * Reads a bracket expression whose `[` is taken: ranges, escapes, POSIX classes; in Ruby nested brackets and `&&`.
 * @throws UnsupportedSyntax when it does not end, or holds what is not supported.
 */
export function parseBracket(cursor: Cursor, options: RegexOptions): CharacterSet {
  const negative = cursor.take("^");
  const parts: CharacterSet[] = [];
  let others: CharacterSet | null = null;
  for (let first = true; ; first = false) {
    if (!first && cursor.take("]")) break;
    if (options.syntax === "ruby" && cursor.take("&&")) {
      const left: CharacterSet = unionOf(parts.splice(0));
      others = others === null ? left : intersectionOf(others, left);
      continue;
    }
    parts.push(parseMember(cursor, options));
  }
  const last = unionOf(parts);
  const members = others === null ? last : intersectionOf(others, last);
  const folded = foldedFor(options, members);
  return negative ? complementOf(folded) : folded;
}

function parseMember(cursor: Cursor, options: RegexOptions): CharacterSet {
  const posix = cursor.takeMatch(/\[:\^?[a-z]+:\]/y);
  if (posix !== null) {
    const set = POSIX_SETS[posix.replace(/[^a-z]/g, "")];
    if (!set) throw new UnsupportedSyntax(`${posix} is not supported`);
    return posix.startsWith("[:^") ? complementOf(set) : set;
  }
  if (options.syntax === "ruby" && cursor.take("[")) return parseBracket(cursor, options);
  const first = parseUnit(cursor, options);
  if (typeof first !== "number") return first;
  // A hyphen is a range only between two characters: not before the end, and not before a class.
  const hyphen = options.syntax === "ruby" ? /-(?![\]]|\\[dDwWsShH]|\[)/y : /-(?![\]]|\\[dDwWsShHvV]|\[:)/y;
  if (cursor.takeMatch(hyphen) === null) return [first, first];
  const last = parseUnit(cursor, options);
  if (typeof last !== "number" || last < first) throw new UnsupportedSyntax("a range that is empty");
  return [first, last];
}

function parseUnit(cursor: Cursor, options: RegexOptions): number | CharacterSet {
  const letter = cursor.next();
  if (letter !== "\\") return letter.charCodeAt(0);
  const shorthand = shorthandsOf(options)[cursor.peek()];
  if (shorthand) {
    cursor.next();
    return shorthand;
  }
  if (cursor.take("b")) return 0x08;
  if ((options.syntax === "pcre" ? /[pPRXQEN]/ : /[pPRX]/).test(cursor.peek())) throw new UnsupportedSyntax(`\\${cursor.peek()} is not supported`);
  return parseEscapedUnit(cursor, options.syntax);
}
