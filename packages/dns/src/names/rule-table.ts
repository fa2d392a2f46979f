/** What names have in common: which lists have them, and with which rules. Names keep the number of a set of such rules. */
import type { ListRule, RuleBody, RuleScope, RuleTrigger } from "../lists/list-rule.ts";

/** A rule as the names of a set share it. */
export interface StoredRule {
  /** Place among the lists. */
  readonly list: number;
  readonly trigger: RuleTrigger;
  readonly scope: RuleScope;
  readonly body: RuleBody;
}

/** The table as JSON holds it: rules point to bodies, sets to rules. */
export interface StoredRuleTable {
  readonly bodies: readonly RuleBody[];
  readonly rules: readonly (readonly [list: number, trigger: RuleTrigger, scope: RuleScope, body: number])[];
  /** Set 0 is empty. */
  readonly sets: readonly (readonly number[])[];
}

/** Grows while names are added. */
export interface RuleTable {
  /** @returns The rule's number, or -1 where there are too many different ones. */
  ruleOf(list: number, rule: ListRule): number;
  /** @returns The number of the set that has also this rule, or -1 where there are too many different sets. */
  extend(set: number, rule: number): number;
  readonly store: () => StoredRuleTable;
}

/** Rules that differ in more than their name: records of a zone, conditions. Each takes some hundred bytes. */
const MAX_RULES = 200_000;
/** Numbers of sets have 24 bits beside the names; far fewer are ever seen, for lists have mostly one kind of rule. */
const MAX_SETS = 1_000_000;
/** A rule's number times this and a set's number make one key that a number holds. */
const RULE_STEP = 2 ** 24;

/** An empty table. */
export function createRuleTable(): RuleTable {
  const bodies: RuleBody[] = [];
  const bodyNumbers = new Map<string, number>();
  /** The last bodies by identity: parsers share one object for most of their lines. */
  const recent = new Map<RuleBody, number>();
  const rules: StoredRuleTable["rules"][number][] = [];
  const ruleNumbers = new Map<string, number>();
  const sets: (readonly number[])[] = [[]];
  const extended = new Map<number, number>();
  let last: { readonly list: number; readonly trigger: RuleTrigger; readonly scope: RuleScope; readonly body: RuleBody; readonly number: number } | null = null;

  function bodyNumber(body: RuleBody): number {
    const known = recent.get(body);
    if (known !== undefined) return known;
    const text = JSON.stringify(body);
    const number = bodyNumbers.get(text) ?? bodies.push(body) - 1;
    bodyNumbers.set(text, number);
    if (recent.size > 16) recent.clear();
    recent.set(body, number);
    return number;
  }

  function ruleOf(list: number, { trigger, scope, body }: ListRule): number {
    if (last?.list === list && last.trigger === trigger && last.scope === scope && last.body === body) return last.number;
    if (rules.length >= MAX_RULES) return -1;
    const stored = [list, trigger, scope, bodyNumber(body)] as const;
    const text = stored.join(" ");
    const number = ruleNumbers.get(text) ?? rules.push(stored) - 1;
    ruleNumbers.set(text, number);
    last = { list, trigger, scope, body, number };
    return number;
  }

  function extend(set: number, rule: number): number {
    const key = rule * RULE_STEP + set;
    const known = extended.get(key);
    if (known !== undefined) return known;
    const before = sets[set] ?? [];
    const number = before.includes(rule) ? set : sets.length >= MAX_SETS ? -1 : sets.push([...before, rule]) - 1;
    if (number >= 0) extended.set(key, number);
    return number;
  }

  return { ruleOf, extend, store: () => ({ bodies, rules, sets }) };
}
