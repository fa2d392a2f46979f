// Ruby's regular expressions (Onigmo), as far as fingerprint databases use them, and PCRE's, as far as rules of intrusion detection do.
// See Ruby's Regexp documentation, doc/RE of Onigmo for what isolated options and {n}? mean there, and pcre2pattern(3).
import { EVERY_UNIT, NOT_LINE_FEED } from "./character-set.ts";
import { Cursor, UnsupportedSyntax } from "./cursor.ts";
import { foldedFor, type RegexOptions, shorthandsOf } from "./options.ts";
import { parseBracket } from "./parse-bracket.ts";
import { parseEscapedUnit } from "./parse-escape.ts";
import { type GroupNames, parseReference } from "./parse-reference.ts";
import { type Assertion, choiceOf, type ParsedTree, type RegexNode, sequenceOf } from "./syntax-tree.ts";

/** A tree, or why there is none. */
export type ParsedRegex = { readonly ok: true; readonly tree: ParsedTree } | { readonly ok: false; readonly reason: string };

const MAX_DEPTH = 100;
const MAX_REPEAT = 100_000;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: "start", z: "end", Z: "end-or-newline", b: "word-boundary", B: "no-word-boundary",
};

/**
 * Reads a pattern as Ruby or PCRE would.
 * @returns The tree, or why it is refused: malformed, or it uses what is not supported (conditions, subroutine calls, Ruby's
 * back-references, Unicode properties, the absence operator, `\G`, `\K`, `\X`).
 */
export function parseRegex(source: string, options: RegexOptions): ParsedRegex {
  const cursor = new Cursor(source);
  const namedOnly = options.syntax === "ruby" && /\(\?(<[A-Za-z_]|')/.test(source);
  const state = { captures: 0, names: new Map<string, number>(), referred: 0, namedOnly };
  try {
    const root = parseChoice({ cursor, state, depth: 0 }, options);
    if (!cursor.atEnd()) throw new UnsupportedSyntax("a closing parenthesis without an opening one");
    if (state.referred > state.captures) throw new UnsupportedSyntax("a back-reference to a group that is not there");
    return { ok: true, tree: { root, captures: state.captures } };
  } catch (error) {
    if (error instanceof UnsupportedSyntax) return { ok: false, reason: `${error.message} at ${cursor.at}` };
    throw error;
  }
}

interface Parsing {
  readonly cursor: Cursor;
  /** In Ruby, where one group has a name, groups without one do not capture. */
  readonly state: GroupNames & { readonly namedOnly: boolean };
  readonly depth: number;
}

/** What holds in a group from here on: in PCRE `(?i)` changes it, for the branches that follow too. */
interface Scope {
  options: RegexOptions;
}

function parseChoice(parsing: Parsing, options: RegexOptions): RegexNode {
  if (parsing.depth > MAX_DEPTH) throw new UnsupportedSyntax("groups nested too deeply");
  const scope = { options };
  const branches = [parseSequence(parsing, scope)];
  while (parsing.cursor.take("|")) branches.push(parseSequence(parsing, scope));
  return choiceOf(branches);
}

function parseSequence(parsing: Parsing, scope: Scope): RegexNode {
  const { cursor } = parsing;
  const nodes: RegexNode[] = [];
  while (!cursor.atEnd() && cursor.peek() !== "|" && cursor.peek() !== ")") {
    if (scope.options.extended && skipExtended(cursor)) continue;
    const atom = parseAtom(parsing, scope);
    if (atom !== null) nodes.push(parseQuantifiers(cursor, atom, scope.options));
  }
  return sequenceOf(nodes);
}

function skipExtended(cursor: Cursor): boolean {
  return cursor.takeMatch(/[ \t\n\r\f\v]+|#[^\n]*/y) !== null;
}

function parseAtom(parsing: Parsing, scope: Scope): RegexNode | null {
  const { cursor } = parsing;
  const { options } = scope;
  const letter = cursor.next();
  switch (letter) {
    case ".":
      return { kind: "set", set: options.dotAll ? EVERY_UNIT : NOT_LINE_FEED };
    case "^":
      return { kind: "assertion", assertion: options.syntax === "ruby" || options.multiline ? "line-start" : "start" };
    case "$":
      return { kind: "assertion", assertion: dollarOf(options) };
    case "[":
      return { kind: "set", set: parseBracket(cursor, options) };
    case "(":
      return parseGroup(parsing, scope);
    case "\\":
      return (options.syntax === "pcre" ? parseReference(cursor, parsing.state, options.ignoreCase) : null) ?? parseEscape(cursor, options);
    case "*":
    case "+":
    case "?":
      throw new UnsupportedSyntax("a quantifier after nothing");
    default:
      return unit(letter.charCodeAt(0), options);
  }
}

function dollarOf({ syntax, multiline, dollarEndOnly }: RegexOptions): Assertion {
  if (syntax === "ruby" || multiline) return "line-end";
  return dollarEndOnly ? "end" : "end-or-newline";
}

function unit(code: number, options: RegexOptions): RegexNode {
  return { kind: "set", set: foldedFor(options, [code, code]) };
}

function parseEscape(cursor: Cursor, options: RegexOptions): RegexNode {
  const letter = cursor.peek();
  const assertion = ASSERTIONS[letter];
  const set = shorthandsOf(options)[letter];
  if (assertion || set) cursor.next();
  if (assertion) return { kind: "assertion", assertion };
  if (set) return { kind: "set", set };
  if (options.syntax === "pcre" && cursor.take("N")) return { kind: "set", set: NOT_LINE_FEED };
  if (options.syntax === "pcre" && cursor.take("Q")) return parseQuoted(cursor, options);
  if (letter === "R") {
    cursor.next();
    const crlf: RegexNode = { kind: "sequence", nodes: [unit(0x0d, options), unit(0x0a, options)] };
    return { kind: "atomic", node: { kind: "choice", nodes: [crlf, { kind: "set", set: [0x0a, 0x0d, 0x85, 0x85, 0x2028, 0x2029] }] } };
  }
  if (/[89kgGKXpP]/.test(letter) || (options.syntax === "ruby" && /[1-7]/.test(letter))) throw new UnsupportedSyntax(`\\${letter} is not supported`);
  return unit(parseEscapedUnit(cursor, options.syntax), options);
}

/** Everything up to `\E`, or to the end, means itself. A quantifier behind it is refused: it would count for the last letter only. */
function parseQuoted(cursor: Cursor, options: RegexOptions): RegexNode {
  const quoted = cursor.takeMatch(/(?:[^\\]|\\(?!E))*/y) ?? "";
  cursor.take("\\E");
  if (/[*+?{]/.test(cursor.peek())) throw new UnsupportedSyntax("a quantifier behind a quotation");
  return sequenceOf(Array.from({ length: quoted.length }, (_, at) => unit(quoted.charCodeAt(at), options)));
}

function parseGroup(parsing: Parsing, scope: Scope): RegexNode | null {
  const { cursor, state } = parsing;
  const { options } = scope;
  const inner = { ...parsing, depth: parsing.depth + 1 };
  const close = (node: RegexNode): RegexNode => {
    if (!cursor.take(")")) throw new UnsupportedSyntax("a group that does not end");
    return node;
  };
  const capture = (name?: string): RegexNode => {
    state.captures += 1;
    const number = state.captures;
    if (name !== undefined) state.names.set(/[<'](\w+)/.exec(name)?.[1] ?? "", number);
    return close({ kind: "capture", number, node: parseChoice(inner, options) });
  };
  const reference = options.syntax === "pcre" && cursor.text.startsWith("?P=", cursor.at) ? parseReference(cursor, state, options.ignoreCase) : null;
  if (reference) return close(reference);
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
  const named = options.syntax === "ruby" ? /<[A-Za-z_]\w*>|'[A-Za-z_]\w*'/y : /P?<[A-Za-z_]\w*>|'[A-Za-z_]\w*'/y;
  const name = cursor.takeMatch(named);
  if (name !== null) return capture(name);
  return options.syntax === "ruby" ? parseRubyOptions(inner, options, close) : parsePcreOptions(inner, scope, close);
}

/** `(?i)` holds to the end of the group it stands in, over every `|`; `(?i:…)` inside itself. */
function parseRubyOptions(inner: Parsing, options: RegexOptions, close: (node: RegexNode) => RegexNode): RegexNode {
  const { cursor } = inner;
  const holds = readOptionLetters(cursor, /[imx]*(-[imx]*)?(?=[:)])/y);
  const changed: RegexOptions = {
    ...options, ignoreCase: holds("i", options.ignoreCase), dotAll: holds("m", options.dotAll), extended: holds("x", options.extended),
  };
  const isolated = cursor.next() === ")";
  const node = parseChoice(inner, changed);
  return isolated ? node : close(node);
}

/** `(?i)` holds to the end of the group it stands in, from here on; `(?i:…)` inside itself. */
function parsePcreOptions(inner: Parsing, scope: Scope, close: (node: RegexNode) => RegexNode): RegexNode | null {
  const { options } = scope;
  const holds = readOptionLetters(inner.cursor, /[imsx]*(-[imsx]*)?(?=[:)])/y);
  const changed: RegexOptions = {
    ...options, ignoreCase: holds("i", options.ignoreCase), dotAll: holds("s", options.dotAll), extended: holds("x", options.extended),
    multiline: holds("m", options.multiline),
  };
  if (inner.cursor.next() === ":") return close(parseChoice(inner, changed));
  scope.options = changed;
  return null;
}

function readOptionLetters(cursor: Cursor, pattern: RegExp): (letter: string, before: boolean) => boolean {
  const letters = cursor.takeMatch(pattern);
  if (letters === null || letters === "") throw new UnsupportedSyntax(`(?${cursor.peek()} is not supported`);
  const [on = "", off = ""] = letters.split("-");
  return (letter, before) => (before || on.includes(letter)) && !off.includes(letter);
}

function parseQuantifiers(cursor: Cursor, atom: RegexNode, { syntax, ungreedy }: RegexOptions): RegexNode {
  let node = atom;
  for (;;) {
    const sign = cursor.takeMatch(/[*+?][?+]?/y);
    if (sign !== null) {
      const max = sign.startsWith("?") ? 1 : Infinity;
      const repeat: RegexNode = {
        kind: "repeat", node, min: sign.startsWith("+") ? 1 : 0, max, lazy: (sign.length > 1 && sign.endsWith("?")) !== ungreedy,
      };
      node = sign.length > 1 && sign.endsWith("+") ? { kind: "atomic", node: repeat } : repeat;
      continue;
    }
    const counted = cursor.takeMatch(syntax === "ruby" ? /\{\d+(,\d*)?\}|\{,\d+\}/y : /\{\d+(,\d*)?\}/y);
    if (counted === null) return node;
    node = syntax === "ruby" ? countedRepeat(cursor, node, counted) : countedPcreRepeat(cursor, node, counted, ungreedy);
  }
}

/** In PCRE every counted repetition may be lazy or possessive. */
function countedPcreRepeat(cursor: Cursor, node: RegexNode, counted: string, ungreedy: boolean): RegexNode {
  const { min, max } = boundsOf(counted);
  const sign = cursor.takeMatch(/[?+]/y);
  const repeat: RegexNode = { kind: "repeat", node, min, max, lazy: (sign === "?") !== ungreedy };
  return sign === "+" ? { kind: "atomic", node: repeat } : repeat;
}

/** In Ruby, `{n}?` is an optional `{n}` and `{n,m}+` a repeated one: only `{n,m}?` is lazy. */
function countedRepeat(cursor: Cursor, node: RegexNode, counted: string): RegexNode {
  const lazy = counted.includes(",") && cursor.take("?");
  return { kind: "repeat", node, ...boundsOf(counted), lazy };
}

function boundsOf(counted: string): { readonly min: number; readonly max: number } {
  const [low = "", high] = counted.slice(1, -1).split(",");
  const min = low === "" ? 0 : Number(low);
  const max = high === undefined ? min : high === "" ? Infinity : Number(high);
  if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min) throw new UnsupportedSyntax(`${counted} is out of bounds`);
  return { min, max };
}
