// Ruby's regular expressions (Onigmo), as far as fingerprint databases use them.
// See Ruby's Regexp documentation, and doc/RE of Onigmo for what isolated options and {n}? mean.
import { EVERY_UNIT, foldCase, NOT_LINE_FEED, SHORTHAND_SETS } from "./character-set.ts";
import { Cursor, UnsupportedSyntax } from "./cursor.ts";
import { parseBracket } from "./parse-bracket.ts";
import { parseEscapedUnit } from "./parse-escape.ts";
import { type Assertion, choiceOf, type RegexNode, type RubyRegex, sequenceOf } from "./syntax-tree.ts";

/** What Ruby calls IGNORECASE, MULTILINE (the dot takes line feeds) and EXTENDED. */
export interface RegexOptions {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
}

export const PLAIN_OPTIONS: RegexOptions = { ignoreCase: false, dotAll: false, extended: false };

export type ParsedRegex = { readonly ok: true; readonly regex: RubyRegex } | { readonly ok: false; readonly reason: string };

const MAX_DEPTH = 100;
const MAX_REPEAT = 100_000;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: "start", z: "end", Z: "end-or-newline", b: "word-boundary", B: "no-word-boundary",
};

/**
 * Reads a pattern as Ruby would.
 * @returns The tree, or why it is refused: malformed, or it uses what is not supported (back-references, conditions, subroutine calls,
 * Unicode properties, the absence operator, `\G`, `\K`, `\X`).
 */
export function parseRubyRegex(source: string, options: RegexOptions = PLAIN_OPTIONS): ParsedRegex {
  const cursor = new Cursor(source);
  const state = { captures: 0, namedOnly: /\(\?(<[A-Za-z_]|')/.test(source) };
  try {
    const root = parseChoice({ cursor, state, depth: 0 }, options);
    if (!cursor.atEnd()) throw new UnsupportedSyntax("a closing parenthesis without an opening one");
    return { ok: true, regex: { root, captures: state.captures } };
  } catch (error) {
    if (error instanceof UnsupportedSyntax) return { ok: false, reason: `${error.message} at ${cursor.at}` };
    throw error;
  }
}

interface Parsing {
  readonly cursor: Cursor;
  /** Where one group has a name, groups without one do not capture. */
  readonly state: { captures: number; readonly namedOnly: boolean };
  readonly depth: number;
}

function parseChoice(parsing: Parsing, options: RegexOptions): RegexNode {
  if (parsing.depth > MAX_DEPTH) throw new UnsupportedSyntax("groups nested too deeply");
  const branches = [parseSequence(parsing, options)];
  while (parsing.cursor.take("|")) branches.push(parseSequence(parsing, options));
  return choiceOf(branches);
}

function parseSequence(parsing: Parsing, options: RegexOptions): RegexNode {
  const { cursor } = parsing;
  const nodes: RegexNode[] = [];
  while (!cursor.atEnd() && cursor.peek() !== "|" && cursor.peek() !== ")") {
    if (options.extended && skipExtended(cursor)) continue;
    const atom = parseAtom(parsing, options);
    if (atom !== null) nodes.push(parseQuantifiers(cursor, atom));
  }
  return sequenceOf(nodes);
}

function skipExtended(cursor: Cursor): boolean {
  return cursor.takeMatch(/[ \t\n\r\f\v]+|#[^\n]*/y) !== null;
}

function parseAtom(parsing: Parsing, options: RegexOptions): RegexNode | null {
  const { cursor } = parsing;
  const letter = cursor.next();
  switch (letter) {
    case ".":
      return { kind: "set", set: options.dotAll ? EVERY_UNIT : NOT_LINE_FEED };
    case "^":
      return { kind: "assertion", assertion: "line-start" };
    case "$":
      return { kind: "assertion", assertion: "line-end" };
    case "[":
      return { kind: "set", set: parseBracket(cursor, options.ignoreCase) };
    case "(":
      return parseGroup(parsing, options);
    case "\\":
      return parseEscape(cursor, options);
    case "*":
    case "+":
    case "?":
      throw new UnsupportedSyntax("a quantifier after nothing");
    default:
      return unit(letter.charCodeAt(0), options);
  }
}

function unit(code: number, options: RegexOptions): RegexNode {
  return { kind: "set", set: options.ignoreCase ? foldCase([code, code]) : [code, code] };
}

function parseEscape(cursor: Cursor, options: RegexOptions): RegexNode {
  const letter = cursor.peek();
  const assertion = ASSERTIONS[letter];
  const set = SHORTHAND_SETS[letter];
  if (assertion || set) cursor.next();
  if (assertion) return { kind: "assertion", assertion };
  if (set) return { kind: "set", set };
  if (letter === "R") {
    cursor.next();
    const crlf: RegexNode = { kind: "sequence", nodes: [unit(0x0d, options), unit(0x0a, options)] };
    return { kind: "atomic", node: { kind: "choice", nodes: [crlf, { kind: "set", set: [0x0a, 0x0d, 0x85, 0x85, 0x2028, 0x2029] }] } };
  }
  if (/[1-9kgGKXpP]/.test(letter)) throw new UnsupportedSyntax(`\\${letter} is not supported`);
  return unit(parseEscapedUnit(cursor), options);
}

function parseGroup(parsing: Parsing, options: RegexOptions): RegexNode | null {
  const { cursor, state } = parsing;
  const inner = { ...parsing, depth: parsing.depth + 1 };
  const close = (node: RegexNode): RegexNode => {
    if (!cursor.take(")")) throw new UnsupportedSyntax("a group that does not end");
    return node;
  };
  const capture = (): RegexNode => {
    state.captures += 1;
    const number = state.captures;
    return close({ kind: "capture", number, node: parseChoice(inner, options) });
  };
  if (!cursor.take("?")) return state.namedOnly ? close(parseChoice(inner, options)) : capture();
  if (cursor.takeMatch(/#[^)]*/y) !== null) {
    if (!cursor.take(")")) throw new UnsupportedSyntax("a comment that does not end");
    return null;
  }
  if (cursor.take(":")) return close(parseChoice(inner, options));
  if (cursor.take(">")) return close({ kind: "atomic", node: parseChoice(inner, options) });
  const look = cursor.takeMatch(/<?[=!]/y);
  if (look !== null) {
    return close({ kind: "look", node: parseChoice(inner, options), ahead: !look.startsWith("<"), negative: look.endsWith("!") });
  }
  if (cursor.takeMatch(/<[A-Za-z_]\w*>|'[A-Za-z_]\w*'/y) !== null) return capture();
  return parseOptions(inner, options, close);
}

/** `(?i)` holds to the end of the group it stands in, over every `|`; `(?i:…)` inside itself. */
function parseOptions(inner: Parsing, options: RegexOptions, close: (node: RegexNode) => RegexNode): RegexNode {
  const { cursor } = inner;
  const letters = cursor.takeMatch(/[imx]*(-[imx]*)?(?=[:)])/y);
  if (letters === null || letters === "") throw new UnsupportedSyntax(`(?${cursor.peek()} is not supported`);
  const [on = "", off = ""] = letters.split("-");
  const holds = (letter: string, before: boolean) => (before || on.includes(letter)) && !off.includes(letter);
  const changed: RegexOptions = {
    ignoreCase: holds("i", options.ignoreCase), dotAll: holds("m", options.dotAll), extended: holds("x", options.extended),
  };
  const isolated = cursor.next() === ")";
  const node = parseChoice(inner, changed);
  return isolated ? node : close(node);
}

function parseQuantifiers(cursor: Cursor, atom: RegexNode): RegexNode {
  let node = atom;
  for (;;) {
    const sign = cursor.takeMatch(/[*+?][?+]?/y);
    if (sign !== null) {
      const max = sign.startsWith("?") ? 1 : Infinity;
      const repeat: RegexNode = {
        kind: "repeat", node, min: sign.startsWith("+") ? 1 : 0, max, lazy: sign.length > 1 && sign.endsWith("?"),
      };
      node = sign.length > 1 && sign.endsWith("+") ? { kind: "atomic", node: repeat } : repeat;
      continue;
    }
    const counted = cursor.takeMatch(/\{\d+(,\d*)?\}|\{,\d+\}/y);
    if (counted === null) return node;
    node = countedRepeat(cursor, node, counted);
  }
}

/** In Ruby, `{n}?` is an optional `{n}` and `{n,m}+` a repeated one: only `{n,m}?` is lazy. */
function countedRepeat(cursor: Cursor, node: RegexNode, counted: string): RegexNode {
  const [low = "", high] = counted.slice(1, -1).split(",");
  const min = low === "" ? 0 : Number(low);
  const max = high === undefined ? min : high === "" ? Infinity : Number(high);
  if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min) throw new UnsupportedSyntax(`${counted} is out of bounds`);
  const lazy = high !== undefined && cursor.take("?");
  return { kind: "repeat", node, min, max, lazy };
}
