import { type Budget, matchLinear } from "./linear-match.ts";
import { compileLinear, MAX_STEPS, programSize } from "./linear-program.ts";
import { parseRubyRegex, type RegexOptions } from "./parse.ts";
import { requiredLiterals } from "./required-literals.ts";
import type { RubyRegex } from "./syntax-tree.ts";
import { toJavaScript } from "./to-javascript.ts";
import { worstCaseOf, worstCaseSteps } from "./worst-case.ts";

/** The texts of the groups from 0, the whole match; undefined for one that took no part. */
export type Groups = readonly (string | undefined)[];

/** A Ruby expression, ready to use. */
export interface Matcher {
  /** Every match holds one of these, in lower case; empty where nothing can be said. */
  readonly literals: readonly string[];
  /** How many steps the linear program has when it is written out: some 100 bytes each. */
  readonly size: number;
  /**
   * The work is bounded by pattern × text, whatever they are, and by the budget, from which it is taken: what it can be at worst for V8's
   * matcher, what it was for the linear one.
   * @returns Null without a match, or where the budget was too small to find out.
   */
  match(text: string, budget: Budget): Groups | null;
}

export type MatcherResult = { readonly ok: true; readonly matcher: Matcher } | { readonly ok: false; readonly reason: string };

/**
 * What V8's own matcher, which backtracks, may need at worst; less than 1 ms. Dearer texts go to the linear one, which is 20 times slower
 * on others. Of Recog's, so counted, the whole look-up of a text of 4096 letters takes 1.2 million steps at most.
 */
const MAX_BACKTRACKING_STEPS = 50_000;

/** @returns The matcher, or why the pattern is refused. Nothing is compiled before it is needed. */
export function createMatcher(source: string, options: RegexOptions): MatcherResult {
  const parsed = parseRubyRegex(source, options);
  if (!parsed.ok) return parsed;
  const { regex } = parsed;
  const worst = worstCaseOf(regex.root);
  const alwaysLinear = worst.differs || worst.degree === Infinity;
  const linear = createLinear(regex);
  const native = createNative(regex);
  const size = programSize(regex.root);
  if (size > MAX_STEPS) return { ok: false, reason: "its counted repetitions are too long" };
  return {
    ok: true,
    matcher: {
      literals: requiredLiterals(regex.root),
      size,
      match(text, budget) {
        const steps = alwaysLinear ? Infinity : worstCaseSteps(worst, text);
        if (steps > MAX_BACKTRACKING_STEPS) return linear(text, budget);
        budget.left -= steps;
        return budget.left < 0 ? null : native(text);
      },
    },
  };
}

/** Both matchers of one pattern, for comparing them; null where it is refused. */
export function createBothMatchers(
  source: string, options: RegexOptions,
): Readonly<Record<"native" | "linear", (text: string) => Groups | null>> | null {
  const parsed = parseRubyRegex(source, options);
  if (!parsed.ok) return null;
  const linear = createLinear(parsed.regex);
  return { native: createNative(parsed.regex), linear: (text) => linear(text, { left: Infinity }) };
}

function createNative(regex: RubyRegex): (text: string) => Groups | null {
  let compiled: ReturnType<typeof toJavaScript> | null = null;
  return (text) => {
    compiled ??= toJavaScript(regex);
    const match = compiled.regex.exec(text);
    return match && compiled.groups.map((group) => match[group]);
  };
}

function createLinear(regex: RubyRegex): (text: string, budget: Budget) => Groups | null {
  let program: ReturnType<typeof compileLinear> | null = null;
  return (text, budget) => {
    program ??= compileLinear(regex);
    const slots = matchLinear(program, regex.captures, text, budget);
    if (!slots) return null;
    return Array.from({ length: regex.captures + 1 }, (_, group) => {
      const start = slots[group * 2] ?? -1;
      const end = slots[group * 2 + 1] ?? -1;
      return start === -1 || end === -1 ? undefined : text.slice(start, end);
    });
  };
}
