/** A set of UTF-16 code units: sorted, disjoint, not adjacent ranges as `[first, last, first, last, …]`. */
export type CharacterSet = readonly number[];

const LAST_UNIT = 0xffff;

/** All 65,536 units. `to-javascript.ts` compares it by identity. */
export const EVERY_UNIT: CharacterSet = [0, LAST_UNIT];
/** Ruby's `.` leaves out the line feed only; JavaScript's leaves out three more. */
export const NOT_LINE_FEED: CharacterSet = [0, 0x09, 0x0b, LAST_UNIT];
const DIGITS: CharacterSet = [0x30, 0x39];
const HEXADECIMAL: CharacterSet = [0x30, 0x39, 0x41, 0x46, 0x61, 0x66];
/** ASCII only, as in Ruby; JavaScript's `\s` also takes Unicode's blanks. */
const BLANKS: CharacterSet = [0x09, 0x0d, 0x20, 0x20];
const WORD: CharacterSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** What `\d`, `\W` and so on stand for, by their letter. */
export const SHORTHAND_SETS: Readonly<Record<string, CharacterSet>> = {
  d: DIGITS,
  D: complementOf(DIGITS),
  w: WORD,
  W: complementOf(WORD),
  s: BLANKS,
  S: complementOf(BLANKS),
  h: HEXADECIMAL,
  H: complementOf(HEXADECIMAL),
};

const HORIZONTAL_BLANKS: CharacterSet = [0x09, 0x09, 0x20, 0x20, 0xa0, 0xa0];
const VERTICAL_BLANKS: CharacterSet = [0x0a, 0x0d, 0x85, 0x85];

/** The same in PCRE, which has two more and another `\\h`. */
export const PCRE_SHORTHAND_SETS: Readonly<Record<string, CharacterSet>> = {
  ...SHORTHAND_SETS,
  h: HORIZONTAL_BLANKS,
  H: complementOf(HORIZONTAL_BLANKS),
  v: VERTICAL_BLANKS,
  V: complementOf(VERTICAL_BLANKS),
};

/** POSIX classes, ASCII part. @see Ruby's Regexp documentation, "POSIX Bracket Expressions" */
export const POSIX_SETS: Readonly<Record<string, CharacterSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: DIGITS,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: BLANKS,
  upper: [0x41, 0x5a],
  word: WORD,
  xdigit: HEXADECIMAL,
};

/** Units that any of the sets has. Takes ranges in any order, overlapping or adjacent. */
export function unionOf(sets: readonly CharacterSet[]): CharacterSet {
  const edges = sets.flat();
  const union: number[] = [];
  for (const [first, last] of isAscending(edges) ? rangesOf(edges) : rangesOf(edges).sort((a, b) => a[0] - b[0])) {
    const end = union.at(-1);
    if (end !== undefined && first <= end + 1) union[union.length - 1] = Math.max(end, last);
    else union.push(first, last);
  }
  return union;
}

function isAscending(edges: readonly number[]): boolean {
  for (let at = 2; at < edges.length; at += 2) if ((edges[at] ?? 0) < (edges[at - 2] ?? 0)) return false;
  return true;
}

/** Units that the set does not have. */
export function complementOf(set: CharacterSet): CharacterSet {
  const complement: number[] = [];
  let next = 0;
  for (const [first, last] of rangesOf(set)) {
    if (first > next) complement.push(next, first - 1);
    next = last + 1;
  }
  if (next <= LAST_UNIT) complement.push(next, LAST_UNIT);
  return complement;
}

/** Units that both sets have. */
export function intersectionOf(left: CharacterSet, right: CharacterSet): CharacterSet {
  return complementOf(unionOf([complementOf(left), complementOf(right)]));
}

/** Whether no unit is in both sets. Takes time by the product of their ranges. */
export function areDisjoint(left: CharacterSet, right: CharacterSet): boolean {
  return rangesOf(left).every(([first, last]) => rangesOf(right).every(([from, to]) => last < from || to < first));
}

/** Whether the set has this UTF-16 unit. Takes time by the number of ranges. */
export function has(set: CharacterSet, unit: number): boolean {
  for (let at = 0; at < set.length; at += 2) if (unit >= (set[at] ?? 0) && unit <= (set[at + 1] ?? -1)) return true;
  return false;
}

/** Adds the other case of each letter. @param last The last letter that has one: U+024F is as far as names of products go. */
export function foldCase(set: CharacterSet, last = 0x24f): CharacterSet {
  const [first = 0, end] = set;
  // Most are one letter; their sets are made once.
  return set.length === 2 && first === end && first < ASCII_FOLDED.length ? (ASCII_FOLDED[first] ?? set) : foldAny(set, last);
}

function foldAny(set: CharacterSet, last: number): CharacterSet {
  const others: number[] = [];
  for (let at = 0; at < set.length; at += 2) {
    const to = Math.min(set[at + 1] ?? 0, last);
    for (let unit = set[at] ?? 0; unit <= to; unit += 1) addOtherCase(others, unit);
  }
  return others.length === 0 ? set : unionOf([set, others]);
}

function addOtherCase(others: number[], unit: number): void {
  if (unit < 0x80) {
    const letter = unit | 0x20;
    if (letter >= 0x61 && letter <= 0x7a) others.push(unit ^ 0x20, unit ^ 0x20);
    return;
  }
  const text = String.fromCharCode(unit);
  for (const other of [text.toLowerCase(), text.toUpperCase()]) {
    if (other.length === 1) others.push(other.charCodeAt(0), other.charCodeAt(0));
  }
}

/** Each ASCII unit with its other case. */
const ASCII_FOLDED: readonly CharacterSet[] = Array.from({ length: 0x80 }, (_, unit) => foldAny([unit, unit], unit));

/** The same ranges as pairs `[first, last]`, ascending, both ends included. */
export function rangesOf(set: CharacterSet): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < set.length; at += 2) ranges.push([set[at] ?? 0, set[at + 1] ?? 0]);
  return ranges;
}
