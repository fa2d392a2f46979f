/** In which order rules are looked at, as Suricata's default has it. */

import type { Rule } from "../../rules/rule.ts";

const ACTIONS = { "pass": 0, "drop": 1, "reject": 2, "reject-source": 2, "reject-destination": 2, "reject-both": 2, "alert": 3 } as const;

/**
 * Pass, drop, reject, alert; then those that set bits before those that ask for them; then by priority; then as in the file.
 * @see https://docs.suricata.io/en/latest/configuration/suricata-yaml.html#action-order
 */
export function orderRules(rules: readonly Rule[]): readonly Rule[] {
  const keys = new Map(rules.map((rule) => [rule, keyOf(rule)] as const));
  return rules.toSorted((one, other) => compareKeys(keys.get(one) ?? [], keys.get(other) ?? []));
}

function keyOf(rule: Rule): readonly number[] {
  const bits = rankOf(rule, "flow-bit");
  const numbers = rankOf(rule, "flow-number");
  // Of hosts' bits those that ask come first: what a packet sets holds from the next one on.
  const hosts = RANK_OF_NONE - rankOf(rule, "host-bit");
  return [ACTIONS[rule.action], bits, numbers, hosts, rule.priority];
}

const RANK_OF_NONE = 3;

/** Those that only set come first, then those that do both, then those that ask; all others last. */
function rankOf({ states }: Rule, kind: Rule["states"][number]["kind"]): number {
  const own = states.filter((state) => state.kind === kind);
  if (own.length === 0) return RANK_OF_NONE;
  const asks = own.filter(({ operation }) => !CHANGES.has(operation)).length;
  if (asks === 0) return 0;
  return asks < own.length ? 1 : 2;
}

const CHANGES: ReadonlySet<string> = new Set(["set", "unset", "toggle", "add", "subtract"]);

function compareKeys(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
