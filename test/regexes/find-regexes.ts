// Every regular expression that the product's sources hold, found by their syntax tree and not by their look.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Node, parseSync, Visitor } from "oxc-parser";

export interface FoundRegex {
  /** From the root, with its line: `apps/probe/src/identify/protocol.ts:120`. */
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

export interface FoundRegexes {
  readonly regexes: readonly FoundRegex[];
  /** Files that make patterns of nothing but a value; what they are is not known before they run. */
  readonly unknown: readonly string[];
}

/** What stands in for a value that a pattern is made with while it runs. */
const STAND_IN = "value";

/**
 * @param root The repository's.
 * @returns The literals, and the `RegExp(…)` made of text, of all TypeScript below `packages/*\/src` and `apps/*\/src`, tests aside.
 *   A value put into a pattern is stood in for by a word.
 */
export function findRegexes(root: string): FoundRegexes {
  const found = ["packages", "apps"].flatMap((folder) => listSources(join(root, folder))).flatMap((path) => {
    const source = readFileSync(path, "utf8");
    const file = relative(root, path);
    return regexesIn(path, source).map(({ at, pattern, flags }) => (
      { file, place: `${file}:${source.slice(0, at).split("\n").length}`, pattern, flags }
    ));
  });
  return {
    regexes: found.filter(({ pattern }) => pattern !== STAND_IN),
    unknown: [...new Set(found.filter(({ pattern }) => pattern === STAND_IN).map(({ file }) => file))],
  };
}

function listSources(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ["node_modules", "dist", "testing", ".turbo"].includes(entry.name) ? [] : listSources(path);
    return /\.tsx?$/.test(entry.name) && !/\.(?:test|d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function regexesIn(path: string, source: string): readonly { readonly at: number; readonly pattern: string; readonly flags: string }[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message ?? ""}`);
  const found: { at: number; pattern: string; flags: string }[] = [];
  const made = (at: number, [pattern, flags]: readonly Node[]) => {
    const text = textOf(pattern);
    if (text !== null) found.push({ at, pattern: text, flags: textOf(flags) ?? "" });
  };
  new Visitor({
    Literal: (node) => {
      if ("regex" in node) found.push({ at: node.start, ...node.regex });
    },
    NewExpression: (node) => {
      if (isRegExp(node.callee)) made(node.start, node.arguments);
    },
    CallExpression: (node) => {
      if (isRegExp(node.callee)) made(node.start, node.arguments);
    },
  }).visit(program);
  return found;
}

function isRegExp(callee: Node): boolean {
  return callee.type === "Identifier" && callee.name === "RegExp";
}

/** @returns Null for what is no text at all. */
function textOf(node: Node | undefined): string | null {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis.map((one) => one.value.cooked ?? "").join(STAND_IN);
  if (node?.type === "TaggedTemplateExpression") return node.quasi.quasis.map((one) => one.value.raw).join(STAND_IN);
  if (node?.type === "BinaryExpression" && node.operator === "+") {
    return `${textOf(node.left) ?? STAND_IN}${textOf(node.right) ?? STAND_IN}`;
  }
  return node === undefined ? null : STAND_IN;
}
