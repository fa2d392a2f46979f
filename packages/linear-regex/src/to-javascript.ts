import { type CharacterSet, EVERY_UNIT, rangesOf } from "./character-set.ts";
import type { Assertion, RegexNode, ParsedTree } from "./syntax-tree.ts";

/** Ruby's and PCRE's anchors, which know the line feed only, in a JavaScript expression without flags. After the last line feed no line starts. */
const ASSERTIONS: Readonly<Record<Assertion, string>> = {
  "line-start": "(?:^|(?<=\\n)(?!$))",
  "line-end": "(?=\\n|$)",
  "start": "^",
  "end": "$",
  "end-or-newline": "(?=\\n?$)",
  "word-boundary": "\\b",
  "no-word-boundary": "\\B",
};

/** Matches nowhere. */
const NEVER = "(?!)";

/** A JavaScript expression that matches what the pattern does, and where its groups went. */
export interface JavaScriptRegex {
  readonly regex: RegExp;
  /** The JavaScript group of each of its groups, from 1; index 0 is the whole match. */
  readonly groups: readonly number[];
}

/**
 * Writes the tree as a JavaScript expression. One difference stays: in JavaScript a group inside a repetition is forgotten when the next
 * turn does not touch it; `worstCaseOf` says where that matters. And what has back-references is for the other matcher.
 * @throws SyntaxError where V8 finds the expression too large.
 */
export function toJavaScript(regex: ParsedTree): JavaScriptRegex {
  const writer: Writer = { groups: Array.from({ length: regex.captures + 1 }, () => 0), next: 1 };
  const source = write(regex.root, writer);
  return { regex: new RegExp(source, "g"), groups: writer.groups };
}

interface Writer {
  readonly groups: number[];
  next: number;
}

function write(node: RegexNode, writer: Writer): string {
  switch (node.kind) {
    case "set":
      return writeSet(node.set);
    case "sequence":
      return node.nodes.map((one) => (one.kind === "choice" ? `(?:${write(one, writer)})` : write(one, writer))).join("");
    case "choice":
      return node.nodes.map((one) => write(one, writer)).join("|");
    case "capture": {
      writer.groups[node.number] = writer.next;
      writer.next += 1;
      return `(${write(node.node, writer)})`;
    }
    case "repeat":
      return `(?:${write(node.node, writer)})${writeQuantifier(node.min, node.max)}${node.lazy ? "?" : ""}`;
    case "atomic": {
      // What a look-ahead has matched is never tried another way.
      const group = writer.next;
      writer.next += 1;
      return `(?:(?=(${write(node.node, writer)}))\\${group})`;
    }
    case "look":
      return `(?${node.ahead ? "" : "<"}${node.negative ? "!" : "="}${write(node.node, writer)})`;
    case "back-reference":
      return NEVER;
    case "assertion":
    default:
      return ASSERTIONS[node.assertion];
  }
}

function writeQuantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  if (min === 0 && max === 1) return "?";
  return `{${min},${max}}`;
}

function writeSet(set: CharacterSet): string {
  if (set === EVERY_UNIT) return "[^]";
  const [first = 0, last = 0] = set;
  if (set.length === 2 && first === last) return writeUnit(first);
  return `[${rangesOf(set).map(([from, to]) => (from === to ? writeUnit(from) : `${writeUnit(from)}-${writeUnit(to)}`)).join("")}]`;
}

function writeUnit(unit: number): string {
  const text = String.fromCharCode(unit);
  return /[A-Za-z0-9_ ]/.test(text) ? text : `\\u${unit.toString(16).padStart(4, "0")}`;
}
