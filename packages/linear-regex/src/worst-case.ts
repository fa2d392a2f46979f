import { areDisjoint, type CharacterSet } from "./character-set.ts";
import { childrenOf, hasBackReference, type RegexNode } from "./syntax-tree.ts";

/** A repetition of fewer turns than these is counted as so many ways, a longer one as an end anywhere in the text. */
const FEW_TURNS = 4;

/** What bounds a backtracking matcher's work on a pattern. */
export interface WorstCase {
  /** How many repetitions can end at several places of the text. Infinity where one stands in another, which can cost exponentially. */
  readonly degree: number;
  /** In how many ways the choices, the optional parts and the repetitions of few turns can be taken together. */
  readonly ways: number;
  /** How many steps it is to go through the pattern once, each repetition of many turns counted as one. */
  readonly size: number;
  /** A repetition may go over all of the text. */
  readonly runs: boolean;
  /** Matches begin at the start of a line or of the text only. */
  readonly anchored: boolean;
  /** JavaScript's answer would differ from Ruby's or PCRE's. */
  readonly differs: boolean;
}

/** Found from the tree alone, without running the pattern. `worstCaseSteps` makes a number of it for one text. */
export function worstCaseOf(root: RegexNode): WorstCase {
  return { ...costOf(root, null), anchored: isAnchored(root), differs: forgetsGroups(root, false) || hasBackReference(root) };
}

/**
 * How many steps it may be to find out that the text does not match: places to begin at × ways through the pattern × places to end
 * repetitions at × steps of one way. No text of that length takes more.
 */
export function worstCaseSteps({ degree, ways, size, runs, anchored }: WorstCase, text: string): number {
  let steps = ways * (size + (runs ? text.length : 0)) * (anchored ? 1 : text.length + 1);
  if (anchored) for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) steps += ways * size;
  for (let one = 1; one <= Math.min(degree, 12); one += 1) steps *= (text.length + one) / one;
  return degree > 12 ? Infinity : steps;
}

/** Whether a group may be set in one turn of a repetition and not in the next: JavaScript then forgets it and Ruby does not. */
function forgetsGroups(node: RegexNode, repeated: boolean): boolean {
  if (node.kind === "capture" && repeated) return true;
  const inside = repeated || (node.kind === "repeat" && node.max > 1);
  return childrenOf(node).some((child) => forgetsGroups(child, inside));
}

type Cost = Pick<WorstCase, "degree" | "ways" | "size" | "runs">;

const ONE_STEP: Cost = { degree: 0, ways: 1, size: 1, runs: false };

/** @param next What must follow begins with one of these; null where that is not known. */
function costOf(node: RegexNode, next: CharacterSet | null): Cost {
  switch (node.kind) {
    case "set":
    case "assertion":
    case "back-reference":
      return ONE_STEP;
    case "sequence":
      return node.nodes.map((one, index) => {
        const after = node.nodes[index + 1];
        return costOf(one, after === undefined ? next : firstSetOf([after]));
      }).reduce(oneAfterTheOther, { ...ONE_STEP, size: 0 });
    case "choice":
      return oneOfThem(node.nodes, next);
    case "capture":
      return costOf(node.node, next);
    case "atomic":
      return costOf(node.node, null);
    case "look": {
      const inside = costOf(node.node, null);
      return { ...inside, degree: inside.degree + 1 };
    }
    case "repeat":
    default:
      return repeatCost(node, next);
  }
}

function oneAfterTheOther(one: Cost, other: Cost): Cost {
  return {
    degree: one.degree + other.degree, ways: one.ways * other.ways, size: one.size + other.size, runs: one.runs || other.runs,
  };
}

function oneOfThem(nodes: readonly RegexNode[], next: CharacterSet | null): Cost {
  const costs = nodes.map((node) => costOf(node, next));
  const sum = (of: (cost: Cost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  return {
    degree: Math.max(...costs.map(({ degree }) => degree)),
    ways: areExclusive(nodes.map((node) => firstSetOf([node]))) ? Math.max(...costs.map(({ ways }) => ways)) : sum(({ ways }) => ways),
    size: sum(({ size }) => size),
    runs: costs.some(({ runs }) => runs),
  };
}

/** No letter begins two of them, so that at most one goes beyond its first step. */
function areExclusive(sets: readonly (CharacterSet | null)[]): boolean {
  return sets.every((set, index) => set !== null && sets.slice(0, index).every((other) => other !== null && areDisjoint(set, other)));
}

function repeatCost(node: Extract<RegexNode, { readonly kind: "repeat" }>, next: CharacterSet | null): Cost {
  const inside = costOf(node.node, node.max <= 1 ? next : null);
  if (node.max <= 1) return { ...inside, ways: inside.ways + (areExclusive([firstSetOf([node.node]), next]) ? 0 : 1) };
  if (!isSimple(node.node)) return { ...inside, degree: Infinity };
  // What cannot go on where it stops has one place to stop at.
  const body = onlySetOf(node.node);
  const stopsOnce = body !== null && next !== null && areDisjoint(body, next);
  if (node.max - node.min < FEW_TURNS) {
    return { ...inside, ways: stopsOnce ? 1 : node.max - node.min + 1, size: inside.size * Math.max(node.max, 1) };
  }
  return { degree: stopsOnce ? 0 : 1, ways: 1, size: inside.size * Math.max(node.min, 1), runs: true };
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
