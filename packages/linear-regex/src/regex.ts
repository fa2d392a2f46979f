import { type Budget, matchLinear } from "./linear-match.ts";
import { compileLinear, MAX_STEPS, programSize } from "./linear-program.ts";
import { PLAIN_OPTIONS, type RegexOptions } from "./options.ts";
import { parseRegex } from "./parse.ts";
import { requiredLiterals } from "./required-literals.ts";
import { hasBackReference, type ParsedTree } from "./syntax-tree.ts";
import { toJavaScript } from "./to-javascript.ts";
import { worstCaseOf, worstCaseSteps } from "./worst-case.ts";

/** The texts of the groups from 0, the whole match; undefined for one that took no part. */
export type Groups = readonly (string | undefined)[];

/** The leftmost match. Of bytes, a letter of a group is a byte. */
export interface Match {
  /** Where it begins, and the first place behind it: in UTF-16 units of a text, or in bytes. */
  readonly index: number;
  readonly end: number;
  readonly groups: Groups;
}

/** A regular expression, ready to use. */
export interface LinearRegex {
  /** @returns Texts of which every match holds one, in lower case; none where nothing can be said. Not kept. */
  literals(): readonly string[];
  /** How many steps the linear program has when it is written out: some 100 bytes each. */
  readonly size: number;
  /** It has back-references: no more than the budget bounds its work, and answers are missed where that is spent. */
  readonly isBudgeted: boolean;
  /**
   * The work is bounded by pattern × input, whatever they are, and by the budget, from which it is taken: what it can be at worst for V8's
   * matcher, what it was for the linear one.
   * @param input A text, or bytes, each of which is one character (Latin-1).
   * @param budget Shared by several calls, it bounds them together. Without one, 2,000,000 steps, about 20 ms.
   * @param from Where a match may begin; what is before it is looked at by look-behind, `^` and `\b` only.
   * @returns Null without a match, or where the budget was too small to find out: its `left` is 0 or less then.
   */
  exec(input: string | Uint8Array, budget?: Budget, from?: number): Match | null;
  /** Whether there is a match. The same bounds as `exec`. */
  test(input: string | Uint8Array, budget?: Budget): boolean;
}

/** A regular expression, or why the pattern is refused. */
export type Compiled = { readonly ok: true; readonly regex: LinearRegex } | { readonly ok: false; readonly reason: string };

/**
 * What V8's own matcher, which backtracks, may need at worst; less than 1 ms. Dearer texts go to the linear one, which is 20 times slower
 * on others. Of Recog's, so counted, the whole look-up of a text of 4096 letters takes 1.2 million steps at most.
 */
const MAX_BACKTRACKING_STEPS = 50_000;
const DEFAULT_BUDGET = 2_000_000;

/**
 * Compiles a pattern of Ruby's or PCRE's syntax. No pattern makes it throw, and nothing of V8's is compiled before it is needed.
 * @param options Plain Ruby unless they say otherwise.
 * @param limits.size Refuses a larger pattern; by default 20,000 steps, which a pattern can reach by counted repetitions only.
 * @param limits.isForNow It is used at once: the pattern is not read a second time for that.
 * @returns The expression; or why it is refused: malformed, too large, or it uses what is not supported.
 */
export function compileRegex(source: string, options: Partial<RegexOptions> = {}, limits: { readonly size?: number; readonly isForNow?: boolean } = {}): Compiled {
  const all = { ...PLAIN_OPTIONS, ...options };
  const parsed = parseRegex(source, all);
  if (!parsed.ok) return parsed;
  const { tree } = parsed;
  const size = programSize(tree.root);
  if (size > (limits.size ?? MAX_STEPS)) return { ok: false, reason: "its counted repetitions are too long" };
  const worst = worstCaseOf(tree.root);
  const alwaysLinear = worst.differs || worst.degree === Infinity;
  let kept = limits.isForNow === true ? tree : null;
  const readAgain = () => {
    const read = kept ?? treeOf(source, all);
    kept = null;
    return read;
  };
  const [linear, native] = [createLinear(tree.captures, readAgain), createNative(readAgain)];
  const exec = (input: string | Uint8Array, budget: Budget = { left: DEFAULT_BUDGET }, from = 0): Match | null => {
    const text = typeof input === "string" ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString("latin1");
    const steps = alwaysLinear ? Infinity : worstCaseSteps(worst, text);
    if (steps > MAX_BACKTRACKING_STEPS) return linear(text, budget, from);
    budget.left -= steps;
    return budget.left < 0 ? null : native(text, from);
  };
  return {
    ok: true,
    regex: { literals: () => requiredLiterals(treeOf(source, all).root), size, isBudgeted: hasBackReference(tree.root), exec, test: (input, budget) => exec(input, budget) !== null },
  };
}

/** The tree of a pattern that was read before: it is not kept, as it takes ten times the memory of what comes of it. */
function treeOf(source: string, options: RegexOptions): ParsedTree {
  const parsed = parseRegex(source, options);
  if (!parsed.ok) throw new TypeError(`the pattern cannot be read any more: ${parsed.reason}`);
  return parsed.tree;
}

/** Both matchers of one pattern, for comparing them; null where it is refused. */
export function createBothMatchers(
  source: string, options: RegexOptions,
): Readonly<Record<"native" | "linear", (text: string) => Match | null>> | null {
  const parsed = parseRegex(source, options);
  if (!parsed.ok) return null;
  const [linear, native] = [createLinear(parsed.tree.captures, () => parsed.tree), createNative(() => parsed.tree)];
  return { native: (text) => native(text, 0), linear: (text) => linear(text, { left: Infinity }, 0) };
}

function createNative(tree: () => ParsedTree): (text: string, from: number) => Match | null {
  let compiled: ReturnType<typeof toJavaScript> | null = null;
  return (text, from) => {
    compiled ??= toJavaScript(tree());
    compiled.regex.lastIndex = from;
    const match = compiled.regex.exec(text);
    return match && { index: match.index, end: match.index + match[0].length, groups: compiled.groups.map((group) => match[group]) };
  };
}

function createLinear(captures: number, tree: () => ParsedTree): (text: string, budget: Budget, from: number) => Match | null {
  let program: ReturnType<typeof compileLinear> | null = null;
  return (text, budget, from) => {
    program ??= compileLinear(tree());
    const slots = matchLinear(program, text, budget, from);
    if (!slots) return null;
    const groups = Array.from({ length: captures + 1 }, (_, group) => {
      const start = slots[group * 2] ?? -1;
      const end = slots[group * 2 + 1] ?? -1;
      return start === -1 || end === -1 ? undefined : text.slice(start, end);
    });
    return { index: slots[0] ?? 0, end: slots[1] ?? 0, groups };
  };
}
