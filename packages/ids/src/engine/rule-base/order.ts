/** In which order rules are looked at, as Suricata's default has it. */

import type { Rule } from "../../rules/rule.ts";

const ACTIONS = { "pass": 0, "drop": 1, "reject": 2, "reject-source": 2, "reject-destination": 2, "reject-both": 2, "alert": 3 } as const;

/** Keys that are made in one step. */
const RULES_A_STEP = 500;
/** A key has the rule's place in the file in its lower bits. */
const PLACES = 2 ** 24;

/**
 * Pass, drop, reject, alert; then those that set bits before those that ask for them; then by priority; then as in the file. In small steps.
 * @see https://docs.suricata.io/en/latest/configuration/suricata-yaml.html#action-order
 */
export function* orderRules(rules: readonly Rule[]): Generator<undefined, readonly Rule[]> {
  const keys = new Float64Array(rules.length);
  for (const [place, rule] of rules.entries()) {
    keys[place] = rankOf(rule) * PLACES + place;
    if (place % RULES_A_STEP === 0) yield;
  }
  keys.sort();
  yield;
  return Array.from(keys, (key) => rules[key % PLACES] as Rule);
}

function rankOf({ action, states, priority }: Rule): number {
  const hosts = bitRankOf(states, "host-bit");
  // Of hosts' bits those that ask come first: what a packet sets holds from the next one on.
  const ofHosts = hosts === RANK_OF_NONE ? hosts : RANK_OF_NONE - 1 - hosts;
  const ranks = ((ACTIONS[action] * 4 + bitRankOf(states, "flow-bit")) * 4 + bitRankOf(states, "flow-number")) * 4 + ofHosts;
  return ranks * 256 + Math.min(priority, 255);
}

const RANK_OF_NONE = 3;

/** Those that only set come first, then those that do both, then those that ask; all others last. */
function bitRankOf(states: Rule["states"], kind: Rule["states"][number]["kind"]): number {
  if (states.length === 0) return RANK_OF_NONE;
  const own = states.filter((state) => state.kind === kind);
  if (own.length === 0) return RANK_OF_NONE;
  const asks = own.filter(({ operation }) => !CHANGES.has(operation)).length;
  if (asks === 0) return 0;
  return asks < own.length ? 1 : 2;
}

const CHANGES: ReadonlySet<string> = new Set(["set", "unset", "toggle", "add", "subtract"]);
