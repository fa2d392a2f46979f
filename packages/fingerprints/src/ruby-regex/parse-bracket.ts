import { type CharacterSet, complementOf, foldCase, intersectionOf, POSIX_SETS, SHORTHAND_SETS, unionOf } from "./character-set.ts";
import { type Cursor, UnsupportedSyntax } from "./cursor.ts";
import { parseEscapedUnit } from "./parse-escape.ts";

/**
 * Reads a bracket expression whose `[` is taken: ranges, escapes, POSIX classes, nested brackets and `&&`.
 * @throws UnsupportedSyntax when it does not end, or holds what is not supported.
 */
export function parseBracket(cursor: Cursor, ignoreCase: boolean): CharacterSet {
  const negative = cursor.take("^");
  const parts: CharacterSet[] = [];
  let others: CharacterSet | null = null;
  for (let first = true; ; first = false) {
    if (!first && cursor.take("]")) break;
    if (cursor.take("&&")) {
      const left: CharacterSet = unionOf(parts.splice(0));
      others = others === null ? left : intersectionOf(others, left);
      continue;
    }
    parts.push(parseMember(cursor, ignoreCase));
  }
  const last = unionOf(parts);
  const members = others === null ? last : intersectionOf(others, last);
  const folded = ignoreCase ? foldCase(members) : members;
  return negative ? complementOf(folded) : folded;
}

function parseMember(cursor: Cursor, ignoreCase: boolean): CharacterSet {
  const posix = cursor.takeMatch(/\[:\^?[a-z]+:\]/y);
  if (posix !== null) {
    const set = POSIX_SETS[posix.replace(/[^a-z]/g, "")];
    if (!set) throw new UnsupportedSyntax(`${posix} is not supported`);
    return posix.startsWith("[:^") ? complementOf(set) : set;
  }
  if (cursor.take("[")) return parseBracket(cursor, ignoreCase);
  const first = parseUnit(cursor);
  if (typeof first !== "number") return first;
  // A hyphen is a range only between two characters: not before the end, and not before a class.
  if (cursor.takeMatch(/-(?![\]]|\\[dDwWsShH]|\[)/y) === null) return [first, first];
  const last = parseUnit(cursor);
  if (typeof last !== "number" || last < first) throw new UnsupportedSyntax("a range that is empty");
  return [first, last];
}

function parseUnit(cursor: Cursor): number | CharacterSet {
  const letter = cursor.next();
  if (letter !== "\\") return letter.charCodeAt(0);
  const shorthand = SHORTHAND_SETS[cursor.peek()];
  if (shorthand) {
    cursor.next();
    return shorthand;
  }
  if (cursor.take("b")) return 0x08;
  if (/[pPRX]/.test(cursor.peek())) throw new UnsupportedSyntax(`\\${cursor.peek()} is not supported`);
  return parseEscapedUnit(cursor);
}
