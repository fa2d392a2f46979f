import { type CharacterSet, foldCase } from "./character-set.ts";
import type { RegexNode } from "./syntax-tree.ts";

/**
 * Texts of which every match holds at least one, in lower case; empty where nothing can be said.
 * Only ASCII counts, whose lower case is of the same length.
 */
export function requiredLiterals(root: RegexNode): readonly string[] {
  return best([...collect(root).candidates]);
}

interface Found {
  /** Sets of texts: of each, a match holds at least one. */
  readonly candidates: readonly (readonly string[])[];
  /** The text itself, where the node is nothing but one. */
  readonly whole: string | null;
}

const NOTHING: Found = { candidates: [], whole: null };

function collect(node: RegexNode): Found {
  switch (node.kind) {
    case "set": {
      const letter = letterOf(node.set);
      return letter === null ? NOTHING : { candidates: [[letter]], whole: letter };
    }
    case "sequence":
      return collectSequence(node.nodes);
    case "capture":
    case "atomic":
      return collect(node.node);
    case "repeat":
      return node.min === 0 ? NOTHING : { ...collect(node.node), whole: null };
    case "choice": {
      const branches = node.nodes.map((one) => best(collect(one).candidates));
      return branches.some((branch) => branch.length === 0) ? NOTHING : { candidates: [branches.flat()], whole: null };
    }
    case "assertion":
      return { candidates: [], whole: "" };
    case "look":
    case "back-reference":
    default:
      return NOTHING;
  }
}

function collectSequence(nodes: readonly RegexNode[]): Found {
  const candidates: (readonly string[])[] = [];
  let run = "";
  let isWhole = true;
  for (const found of nodes.map(collect)) {
    if (found.whole === null) {
      isWhole = false;
      if (run !== "") candidates.push([run]);
      run = "";
      candidates.push(...found.candidates);
    } else {
      run += found.whole;
    }
  }
  if (run !== "") candidates.push([run]);
  return { candidates, whole: isWhole ? run : null };
}

/** A set of texts is as good as its shortest, and the fewer the better. */
function best(candidates: readonly (readonly string[])[]): readonly string[] {
  const score = (texts: readonly string[]) => Math.min(...texts.map((text) => text.length)) - texts.length / 64;
  return candidates.reduce<readonly string[]>((winner, one) => (winner.length === 0 || score(one) > score(winner) ? one : winner), []);
}

/** The lower-case letter that the set means, whatever its case; null where it means more. */
function letterOf(set: CharacterSet): string | null {
  const unit = set.at(-1) ?? 0x80;
  if (unit >= 0x80) return null;
  const text = String.fromCharCode(unit).toLowerCase();
  const folded = foldCase([unit, unit]);
  const isOne = set.length === 2 && set[0] === set[1];
  return isOne || (set.length === folded.length && set.every((edge, at) => edge === folded[at])) ? text : null;
}
