import { parseRules, type Rule, type StateCondition } from "@lanthorn/ids";
import { createEffective, type EffectiveRule, textOf } from "./effective.ts";
import { type Override, ruleKey } from "./records.ts";
import type { RuleSetContent } from "./search.ts";

/** A rule as it counts, and those that have to run beside it. Texts are one character a byte. */
export interface RuleBeside {
  readonly text: string;
  /** Enabled rules that set the bits that it asks for, and those that set what these ask for. */
  readonly beside: readonly { readonly key: string; readonly text: string }[];
}

/** Emerging Threats' most asked bit is set by some sixty rules. */
const MAX_BESIDE = 200;

/** @returns Null where no set has the rule. Of several that have it, the one with the highest revision. */
export function findBeside(
  sets: readonly RuleSetContent[], overrides: readonly Override[], { siteId, gid, sid }: { readonly siteId: string | null; readonly gid: number; readonly sid: number },
): RuleBeside | null {
  const effective = createEffective(overrides, siteId);
  const records = sets.flatMap(({ content }) => content.rules);
  const [found] = records.filter((record) => record.gid === gid && record.sid === sid).toSorted((a, b) => b.revision - a.revision);
  if (!found) return null;
  const { text } = textOf(effective(found));
  const asks = namesOf(parseOne(text), isAsk);
  if (asks.length === 0) return { text, beside: [] };
  const setters = readSetters(records.filter((record) => record !== found && record.refusal === null && mayRemember(record.text)).map(effective).filter(({ isOn }) => isOn));
  const beside = new Map<string, string>();
  const known = new Set(asks);
  // Names are added to the list while it is walked.
  for (const name of known) {
    for (const setter of setters.filter(({ sets: set }) => set.includes(name))) {
      if (beside.size >= MAX_BESIDE) break;
      beside.set(setter.key, setter.text);
      for (const asked of setter.asks) known.add(asked);
    }
  }
  return { text, beside: [...beside].map(([key, one]) => ({ key, text: one })) };
}

/** What is seldom in rules that remember nothing, so that not all of them are read again. */
function mayRemember(text: string): boolean {
  return text.includes("bits:") || text.includes("flowint:");
}

function readSetters(rules: readonly EffectiveRule[]) {
  const texts = rules.map((rule) => textOf(rule).text);
  const parsed = parseRules(Buffer.from(texts.join("\n"), "latin1")).rules;
  return parsed.flatMap((rule) => {
    const sets = namesOf(rule, (state) => !isAsk(state));
    const [effective, text] = [rules[rule.line - 1], texts[rule.line - 1]];
    return sets.length === 0 || !effective || text === undefined ? [] : [{ key: ruleKey(effective.record), text, sets, asks: namesOf(rule, isAsk) }];
  });
}

function parseOne(text: string): Rule | undefined {
  return parseRules(Buffer.from(text, "latin1")).rules[0];
}

const CHANGES: ReadonlySet<string> = new Set(["set", "unset", "toggle", "add", "subtract"]);

function isAsk({ operation }: StateCondition): boolean {
  return !CHANGES.has(operation);
}

/** With their kind: a flowbit and an xbit of one name are two. */
function namesOf(rule: Rule | undefined, keep: (state: StateCondition) => boolean): readonly string[] {
  return (rule?.states ?? []).filter(keep).flatMap((state) => (state.kind === "flow-bit" ? [...state.names] : [state.name]).map((name) => `${state.kind} ${name}`));
}
