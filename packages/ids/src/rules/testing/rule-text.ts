import type { Refusal } from "../parse-rule.ts";
import type { Rule } from "../rule.ts";
import { parseRules, type RuleSetOptions } from "../rule-set.ts";

/** @returns The text's bytes, one a character where all are below 256. */
export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "utf8"));
}

/** @returns The one rule of a text with these options; throws where it is refused. */
export function readRule(options: string, header = "alert tcp any any -> any any", settings: RuleSetOptions = {}): Rule {
  const { rules, refusals } = parseRules(bytesOf(`${header} (${options} sid:1;)`), settings);
  const [rule] = rules;
  if (!rule) throw new Error(JSON.stringify(refusals));
  return rule;
}

/** @returns Why a rule with these options is refused; throws where it is not. */
export function readRefusal(options: string, header = "alert tcp any any -> any any"): Refusal {
  const { refusals } = parseRules(bytesOf(`${header} (${options} sid:1;)`));
  const [refusal] = refusals;
  if (!refusal) throw new Error("it was not refused");
  return refusal;
}
