import { areDisjoint, type CharacterSet } from "./character-set.ts";
import { childrenOf, type RegexNode } from "./syntax-tree.ts";

/** A repetition of fewer turns than these multiplies the work by a constant only. */
const FEW_TURNS = 4;

/** What bounds a backtracking matcher's work on a pattern. */
export interface WorstCase {
  /** How many repetitions can end at several places of the text. Infinity where one stands in another, which can cost exponentially. */
  readonly degree: number;
  /** Matches begin at the start of a line or of the text only. */
  readonly anchored: boolean;
  /** JavaScript's answer would differ from Ruby's. */
  readonly differs: boolean;
}

export function worstCaseOf(root: RegexNode): WorstCase {
  return { degree: degree(root, null), anchored: isAnchored(root), differs: forgetsGroups(root, false) };
}

/** How many steps it may be to find out that the text does not match: places to begin at × ways to place the ends of repetitions. */
export function worstCaseSteps({ degree: ends, anchored }: WorstCase, text: string): number {
  let steps = anchored ? 1 : text.length + 1;
  if (anchored) for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) steps += 1;
  for (let one = 1; one <= Math.min(ends, 12); one += 1) steps *= (text.length + one) / one;
  return ends > 12 ? Infinity : steps;
}

/** Whether a group may be set in one turn of a repetition and not in the next: JavaScript then forgets it and Ruby does not. */
function forgetsGroups(node: RegexNode, repeated: boolean): boolean {
  if (node.kind === "capture" && repeated) return true;
  const inside = repeated || (node.kind === "repeat" && node.max > 1);
  return childrenOf(node).some((child) => forgetsGroups(child, inside));
}

function degree(node: RegexNode, next: CharacterSet | null): number {
  switch (node.kind) {
    case "set":
    case "assertion":
      return 0;
    case "sequence":
      return node.nodes.reduce((sum, one, index) => {
        const rest = node.nodes.slice(index + 1);
        return sum + degree(one, rest.length === 0 ? next : firstSetOf(rest));
      }, 0);
    case "choice":
      return Math.max(...node.nodes.map((one) => degree(one, next)));
    case "capture":
      return degree(node.node, next);
    case "atomic":
      return degree(node.node, null);
    case "look":
      return degree(node.node, null) + 1;
    case "repeat":
    default:
      return repeatDegree(node, next);
  }
}

function repeatDegree(node: Extract<RegexNode, { readonly kind: "repeat" }>, next: CharacterSet | null): number {
  if (node.max <= 1) return degree(node.node, next);
  if (!isSimple(node.node)) return Infinity;
  if (node.max - node.min < FEW_TURNS) return 0;
  const body = onlySetOf(node.node);
  // What cannot go on where it stops has one place to stop at.
  return body && next && areDisjoint(body, next) ? 0 : 1;
}

/** A body that matches in one way and one length. */
function isSimple(node: RegexNode): boolean {
  if (node.kind === "choice" || node.kind === "look" || (node.kind === "repeat" && node.min !== node.max)) return false;
  return childrenOf(node).every(isSimple);
}

function onlySetOf(node: RegexNode): CharacterSet | null {
  if (node.kind === "set") return node.set;
  return node.kind === "capture" ? onlySetOf(node.node) : null;
}

/** The set that whatever follows must begin with; null when that is not one set. */
function firstSetOf(nodes: readonly RegexNode[]): CharacterSet | null {
  const [first] = nodes;
  if (!first) return null;
  if (first.kind === "set") return first.set;
  if (first.kind === "capture") return firstSetOf([first.node]);
  if (first.kind === "sequence") return firstSetOf(first.nodes);
  return first.kind === "repeat" && first.min > 0 ? firstSetOf([first.node]) : null;
}

function isAnchored(node: RegexNode): boolean {
  if (node.kind === "assertion") return node.assertion === "start" || node.assertion === "line-start";
  if (node.kind === "choice") return node.nodes.every(isAnchored);
  const [first] = childrenOf(node);
  return (node.kind === "sequence" || node.kind === "capture") && first !== undefined && isAnchored(first);
}
