import { type Cursor, UnsupportedSyntax } from "./cursor.ts";
import type { RegexNode } from "./syntax-tree.ts";

/** The groups of a pattern so far. */
export interface GroupNames {
  captures: number;
  readonly names: Map<string, number>;
  /** The highest group that a reference names, to be checked at the end. */
  referred: number;
}

const NAMED = /k\{[A-Za-z_]\w*\}|k<[A-Za-z_]\w*>|k'[A-Za-z_]\w*'|g\{[A-Za-z_]\w*\}|\?P=[A-Za-z_]\w*/y;
const NUMBERED = /g-?\d{1,5}|g\{-?\d{1,5}\}|[1-9]\d{0,4}/y;

/**
 * Reads a back-reference of PCRE behind its backslash, or `?P=name` behind its parenthesis.
 * @returns Null where there is none; the two and more digits of a number that no group has yet are octal.
 * @throws UnsupportedSyntax where no group before it has that name.
 * @see pcre2pattern(3), "Backreferences"
 */
export function parseReference(cursor: Cursor, groups: GroupNames, ignoreCase: boolean): RegexNode | null {
  const named = cursor.takeMatch(NAMED);
  if (named !== null) {
    const number = groups.names.get(named.replace(/^(?:\?P=|[kg])/, "").replace(/[{}<>']/g, ""));
    if (number === undefined) throw new UnsupportedSyntax("a back-reference to a name that no group before it has");
    return { kind: "back-reference", number, ignoreCase };
  }
  const before = cursor.at;
  const text = cursor.takeMatch(NUMBERED);
  if (text === null) return null;
  const value = Number(text.replace(/[g{}]/g, ""));
  const number = value < 0 ? groups.captures + 1 + value : value;
  if (!text.startsWith("g") && number > 9 && number > groups.captures) {
    cursor.at = before;
    return null;
  }
  if (number < 1) throw new UnsupportedSyntax("a back-reference to no group");
  groups.referred = Math.max(groups.referred, number);
  return { kind: "back-reference", number, ignoreCase };
}
