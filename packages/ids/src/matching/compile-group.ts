/** What a rule asks of one buffer, made ready to be matched. */

import { type CompiledExpression, compileExpression, type Expression } from "../expressions/compile-expression.ts";
import type { BufferMatch, Pcre } from "../rules/buffer-match.ts";

/** A `pcre`, compiled when what is asked before it is there: mostly it is not. */
export class ExpressionStep {
  readonly kind = "expression";
  readonly isNegated: boolean;
  readonly isRelative: boolean;
  readonly #match: Pcre;
  #compiled: CompiledExpression | null = null;

  constructor(match: Pcre) {
    this.#match = match;
    this.isNegated = match.isNegated;
    this.isRelative = match.isRelative;
  }

  /** `null` where it cannot be run: then the rule never matches. */
  get expression(): Expression | null {
    this.#compiled ??= compileExpression(this.#match.source, this.#match.flags);
    return this.#compiled.ok ? this.#compiled.expression : null;
  }
}

/** One match, ready to be made. */
export type GroupStep = ExpressionStep | Exclude<BufferMatch, Pcre>;

/** The matches of one buffer, in the order of the rule. */
export interface CompiledGroup {
  readonly steps: readonly GroupStep[];
  /** What is asked of the bytes that its `base64-decode` decodes. */
  readonly decoded: CompiledGroup | null;
}

/**
 * @param matches A few hundred at most, as the parser has it: each goes one call deeper.
 * @param decoded The rule's group of `base64_data`, where it has one.
 */
export function compileGroup(matches: readonly BufferMatch[], decoded: CompiledGroup | null = null): CompiledGroup {
  const steps = matches.some(({ kind }) => kind === "pcre") ? matches.map(stepOf) : matches as readonly Exclude<BufferMatch, Pcre>[];
  return { steps, decoded: matches.some(({ kind }) => kind === "base64-decode") ? decoded : null };
}

function stepOf(match: BufferMatch): GroupStep {
  return match.kind === "pcre" ? new ExpressionStep(match) : match;
}

/** @returns Whether a later match counts from where that of `index` ends, so that another place may help it, rather than from one between. */
export function isCountedFrom({ steps }: CompiledGroup, index: number): boolean {
  for (let later = index + 1; later < steps.length; later += 1) {
    const step = steps[later] as GroupStep;
    if (isRelative(step)) return true;
    if (movesPlace(step)) return false;
  }
  return false;
}

/** @returns Whether it counts from the end of the match before. */
export function isRelative(match: GroupStep): boolean {
  if (match.kind === "content") return match.distance !== null || match.within !== null;
  return "isRelative" in match && match.isRelative;
}

function movesPlace(match: GroupStep): boolean {
  switch (match.kind) {
    case "content":
    case "expression":
      return !match.isNegated;
    case "byte-jump":
    case "byte-extract":
    case "byte-math":
      return true;
    case "byte-test":
    case "is-data-at":
    case "size":
    case "base64-decode":
    case "absent":
    case "entropy":
    case "dataset":
    default:
      return false;
  }
}
