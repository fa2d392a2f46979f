/** Expressions of rules, as they are run: `pcre`, and the transform `pcrexform`. */

import { type Budget, compileRegex, type Match } from "@lanthorn/linear-regex";
import type { PcreFlags } from "../rules/transform.ts";

/** An expression, ready to be searched for. */
export interface Expression {
  /**
   * @param subject What `^` and look-behind know; one byte is one character.
   * @param from Where the match may begin.
   * @param budget Steps that are left; below 0 where they were too few, and then nothing is known.
   */
  find(subject: Uint8Array, from: number, budget: Budget): Match | null;
  /** `linear`: its work is bounded by its length × the subject's. `budgeted`: it has back-references, and the budget bounds it. */
  readonly matcher: "linear" | "budgeted";
  /** How many steps it has when it is written out: some 100 bytes each. */
  readonly size: number;
}

/** An expression, or why it cannot be run. */
export type CompiledExpression = { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly reason: string };

/** Of a pattern with all its counted repetitions written out. It refuses none of Emerging Threats'. */
const MAX_STEPS = 20_000;

/** @param source Between the slashes; one character a byte. */
export function compileExpression(source: string, flags: PcreFlags): CompiledExpression {
  const { anchored, ...options } = flags;
  const compiled = compileRegex(source, { ...options, syntax: "pcre" }, { size: MAX_STEPS, isForNow: true });
  if (!compiled.ok) return compiled;
  const { regex } = compiled;
  const find = (subject: Uint8Array, from: number, budget: Budget): Match | null => {
    const match = regex.exec(subject, budget, from);
    // The leftmost match is the anchored one, where there is one.
    return anchored && match?.index !== from ? null : match;
  };
  return { ok: true, expression: { find, matcher: regex.isBudgeted ? "budgeted" : "linear", size: regex.size } };
}
