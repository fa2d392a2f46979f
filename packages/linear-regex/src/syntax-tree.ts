import { type CharacterSet, unionOf } from "./character-set.ts";

/** `line-…` match at each line, as `^` and `$` do in Ruby; `end-or-newline` is `\Z`. */
export type Assertion = "line-start" | "line-end" | "start" | "end" | "end-or-newline" | "word-boundary" | "no-word-boundary";

/** A regular expression. Letter case is already in the sets, so that no flag goes with it. */
export type RegexNode =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "sequence"; readonly nodes: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly RegexNode[] }
  | { readonly kind: "capture"; readonly number: number; readonly node: RegexNode }
  | { readonly kind: "repeat"; readonly node: RegexNode; readonly min: number; readonly max: number; readonly lazy: boolean }
  | { readonly kind: "atomic"; readonly node: RegexNode }
  | { readonly kind: "look"; readonly node: RegexNode; readonly ahead: boolean; readonly negative: boolean }
  /** What the group took; it fails where the group took no part. */
  | { readonly kind: "back-reference"; readonly number: number; readonly ignoreCase: boolean }
  | { readonly kind: "assertion"; readonly assertion: Assertion };

/** A pattern as a tree. */
export interface ParsedTree {
  readonly root: RegexNode;
  /** Groups are numbered from 1. */
  readonly captures: number;
}

/** @returns Whether what matches depends on what groups took before. */
export function hasBackReference(node: RegexNode): boolean {
  return node.kind === "back-reference" || childrenOf(node).some(hasBackReference);
}

/** One node is itself; characters to choose from are one set, which cannot backtrack. */
export function choiceOf(nodes: readonly RegexNode[]): RegexNode {
  const [first] = nodes;
  if (nodes.length === 1 && first) return first;
  const sets = nodes.flatMap((node) => (node.kind === "set" ? [node.set] : []));
  return sets.length === nodes.length ? { kind: "set", set: unionOf(sets) } : { kind: "choice", nodes };
}

/** One node is itself; no node is the empty sequence, which matches everywhere. */
export function sequenceOf(nodes: readonly RegexNode[]): RegexNode {
  const [first] = nodes;
  return nodes.length === 1 && first ? first : { kind: "sequence", nodes };
}

/** Nodes directly inside, in the order of the pattern; empty for sets, assertions and back-references. */
export function childrenOf(node: RegexNode): readonly RegexNode[] {
  switch (node.kind) {
    case "sequence":
    case "choice":
      return node.nodes;
    case "capture":
    case "repeat":
    case "atomic":
    case "look":
      return [node.node];
    case "set":
    case "assertion":
    case "back-reference":
    default:
      return [];
  }
}
