import { matchLinear } from "./linear-match.ts";
import { compileLinear } from "./linear-program.ts";
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
  /** The work is bounded by pattern × text, whatever they are. @returns Null without a match. */
  match(text: string): Groups | null;
}

export type MatcherResult = { readonly ok: true; readonly matcher: Matcher } | { readonly ok: false; readonly reason: string };

/** What V8's own matcher, which backtracks, may need at worst; about 1 ms. Dearer texts go to the linear one, 20 times slower on others. */
const MAX_BACKTRACKING_STEPS = 200_000;

/** @returns The matcher, or why the pattern is refused. Nothing is compiled before it is needed. */
export function createMatcher(source: string, options: RegexOptions): MatcherResult {
  const parsed = parseRubyRegex(source, options);
  if (!parsed.ok) return parsed;
  const { regex } = parsed;
  const worst = worstCaseOf(regex.root);
  const alwaysLinear = worst.differs || worst.degree === Infinity;
  const linear = createLinear(regex);
  const native = createNative(regex);
  if (alwaysLinear && !linear.fits()) return { ok: false, reason: "its counted repetitions are too long" };
  return {
    ok: true,
    matcher: {
      literals: requiredLiterals(regex.root),
      match: (text) => (alwaysLinear || worstCaseSteps(worst, text) > MAX_BACKTRACKING_STEPS ? linear.match(text) : native(text)),
    },
  };
}

/** Both matchers of one pattern, for comparing them; null where it is refused. */
export function createBothMatchers(
  source: string, options: RegexOptions,
): Readonly<Record<"native" | "linear", (text: string) => Groups | null>> | null {
  const parsed = parseRubyRegex(source, options);
  return parsed.ok ? { native: createNative(parsed.regex), linear: createLinear(parsed.regex).match } : null;
}

function createNative(regex: RubyRegex): (text: string) => Groups | null {
  let compiled: ReturnType<typeof toJavaScript> | null = null;
  return (text) => {
    compiled ??= toJavaScript(regex);
    const match = compiled.regex.exec(text);
    return match && compiled.groups.map((group) => match[group]);
  };
}

function createLinear(regex: RubyRegex) {
  let compiled: ReturnType<typeof compileLinear> | undefined;
  const program = () => (compiled === undefined ? (compiled = compileLinear(regex)) : compiled);
  return {
    fits: () => program() !== null,
    match(text: string): Groups | null {
      const steps = program();
      const slots = steps && matchLinear(steps, regex.captures, text);
      if (!slots) return null;
      return Array.from({ length: regex.captures + 1 }, (_, group) => {
        const start = slots[group * 2] ?? -1;
        const end = slots[group * 2 + 1] ?? -1;
        return start === -1 || end === -1 ? undefined : text.slice(start, end);
      });
    },
  };
}
