/** A rule and the rules that are made of it, which say what of it matches. */

import { APPLICATIONS } from "../../applications/table.ts";
import type { Rule } from "../../rules/rule.ts";
import { createThresholds } from "../../states/thresholds.ts";
import type { IdsAlert } from "../alert.ts";
import { buildRuleBase, type RuleBase } from "../rule-base/rule-base.ts";
import { type RulePart, ruleWith } from "./rule-parts.ts";

/** What is counted of one rule that was made. */
export interface Tally {
  count: number;
  first: IdsAlert | null;
}

/** What the capture had of each part. */
export interface PartTally {
  readonly part: RulePart;
  /** The rule up to it. */
  readonly upTo: Tally;
  /** The rule without it; `null` where it cannot be left out. */
  readonly without: Tally | null;
}

/** Rules at work, and what they found. */
export interface RuleRun {
  readonly base: RuleBase;
  /** The rule as it is, but that it alerts, without thresholds. */
  readonly whole: Tally;
  /** With its thresholds. */
  readonly alerts: Tally;
  readonly shown: readonly IdsAlert[];
  /** In their order; those about thresholds are last. */
  readonly parts: readonly PartTally[];
  readonly onAlert: (alert: IdsAlert) => void;
}

/** By which rules that were made are known from others; the largest of which a rule's key is exact. */
export const MADE_GID = 2_097_151;

/**
 * The rule itself runs once, as one that alerts: it alone changes what is remembered. Its parts are rules of their own that change nothing.
 * @param others Rules that run beside it, so that bits are set. None of them passes or drops anything.
 * @param maxShown Matches of the whole rule that are kept.
 */
export function createRuleRun(rule: Rule, parts: readonly RulePart[], others: readonly Rule[], maxShown: number): RuleRun {
  const made = new Map<Rule, Tally>();
  const add = (one: Rule): Tally => {
    const tally = createTally();
    made.set({ ...one, gid: MADE_GID, id: made.size + 1 }, tally);
    return tally;
  };
  const whole = add({ ...rule, action: "alert", noAlert: false, threshold: null, detectionFilter: null });
  const [tried, limits] = [parts.filter((part) => !isLimit(part)), parts.filter(isLimit)];
  const found = tried.map((part, index): PartTally => ({
    part, upTo: add(ruleWith(rule, tried.slice(0, index + 1))), without: part.isApart ? add(ruleWith(rule, tried.filter((other) => other !== part))) : null,
  }));
  const limited = createLimits(rule, limits);
  const base = baseOf([...others.filter(({ gid }) => gid !== MADE_GID).map((other): Rule => ({ ...other, action: "alert" })), ...made.keys()]);
  const shown: IdsAlert[] = [];
  return {
    base, whole, alerts: limited.alerts, shown, parts: [...found, ...limited.parts],
    onAlert: (alert) => {
      const tally = made.get(alert.rule);
      if (!tally) return;
      countOne(tally, alert);
      if (tally !== whole) return;
      limited.count(alert);
      if (shown.length < maxShown) shown.push(alert);
    },
  };
}

function isLimit({ kind }: RulePart): boolean {
  return kind === "threshold";
}

/** Thresholds are counted on what the whole rule matched, each with counts of its own. */
function createLimits(rule: Rule, limits: readonly RulePart[]) {
  const counters: ((alert: IdsAlert) => void)[] = [];
  const add = (parts: readonly RulePart[]): Tally => {
    const tally = createTally();
    const passes = createLimit(ruleWith(rule, parts));
    counters.push((alert) => {
      if (passes(alert)) countOne(tally, alert);
    });
    return tally;
  };
  const parts = limits.map((part, index): PartTally => ({ part, upTo: add(limits.slice(0, index + 1)), without: add(limits.filter((other) => other !== part)) }));
  return { alerts: add(limits), parts, count: (alert: IdsAlert) => counters.forEach((counter) => counter(alert)) };
}

function createLimit({ detectionFilter, threshold }: Rule): (alert: IdsAlert) => boolean {
  const thresholds = createThresholds();
  return ({ source, destination, flow, at }) => {
    const match = { rule: 0, ends: { source: source.ip, destination: destination.ip, flow: flow.id }, atMicroseconds: at };
    if (detectionFilter !== null && !thresholds.filter(detectionFilter, match)) return false;
    return threshold === null || thresholds.apply(threshold, match) === "alert";
  };
}

function createTally(): Tally {
  return { count: 0, first: null };
}

function countOne(tally: Tally, alert: IdsAlert): void {
  tally.count += 1;
  tally.first ??= alert;
}

function baseOf(rules: readonly Rule[]): RuleBase {
  const steps = buildRuleBase(rules, APPLICATIONS);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
