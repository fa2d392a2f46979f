/** What each rule costs. */

/** One rule's share. */
export interface RuleCost {
  readonly gid: number;
  readonly id: number;
  /** How often it was tried, beyond the prefilter. */
  readonly checks: number;
  readonly matches: number;
  /** Of some 10 ns. */
  readonly steps: number;
}

/** Counts by a rule's place. */
export interface Costs {
  readonly checks: Uint32Array;
  readonly matches: Uint32Array;
  readonly steps: Float64Array;
}

/** @returns Counts, all 0. */
export function createCosts(rules: number): Costs {
  return { checks: new Uint32Array(rules), matches: new Uint32Array(rules), steps: new Float64Array(rules) };
}

/** @returns The rules that cost most, first. */
export function costliest({ checks, matches, steps }: Costs, rules: readonly { readonly rule: { readonly gid: number; readonly id: number } }[], count: number): readonly RuleCost[] {
  return rules.map(({ rule }, place): RuleCost => ({
    gid: rule.gid, id: rule.id, checks: checks[place] ?? 0, matches: matches[place] ?? 0, steps: steps[place] ?? 0,
  })).filter((one) => one.checks > 0).toSorted((one, other) => other.steps - one.steps).slice(0, count);
}
