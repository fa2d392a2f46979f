import type { Severity } from "@lanthorn/contract/uplink";
import type { MatchedRule, Verdict } from "@lanthorn/dns";
import { severityOf } from "./category.ts";

const ORDER: readonly (Severity | null)[] = ["critical", "high", "medium", "low", "info", null];

/** The rule of the most harmful category among those that hold and are of the kind of list that decided; null where none did. */
export function worstRule({ action, rule, observed, matches }: Pick<Verdict, "action" | "rule" | "observed" | "matches">): MatchedRule | null {
  const decided = action === "allow" ? observed : rule;
  if (!decided) return null;
  const rank = ({ category }: MatchedRule) => ORDER.indexOf(severityOf(category));
  return matches.reduce((worst, one) => (one.listKind === decided.listKind && one.effect.kind !== "allow" && rank(one) < rank(worst) ? one : worst), decided);
}
