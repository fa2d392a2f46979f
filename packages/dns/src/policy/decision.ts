/** What rules that were found mean for a query. */
import type { RuleEffect } from "../lists/list-rule.ts";
import { blockAnswer, extendedErrorOf, recordsAnswer } from "./answer.ts";
import type { DnsQuery, Policy } from "./policy.ts";
import type { Candidate } from "./rule-match.ts";
import type { ExtendedError, MatchedRule, Verdict, VerdictAnswer } from "./verdict.ts";

/** What a verdict says of a rule that decides. */
export type Decision = Pick<Verdict, "action" | "answer" | "extendedError" | "allowName"> & { readonly rule: MatchedRule };

/** @param candidates The rule, and others of one list with records beside it. @returns Null where it is an exception. */
export function decide(candidates: readonly Candidate[], query: DnsQuery, policy: Policy): Decision | null {
  const [first] = candidates;
  if (!first) return null;
  const { rule } = first;
  const error = extendedErrorOf(policy, rule);
  const allowName = allowNameOf(rule, query);
  const { effect } = rule;
  switch (effect.kind) {
    case "allow":
    case "no-rewrite":
      return null;
    case "tcp-only":
      return query.isUdp ? { action: "truncate", answer: null, extendedError: null, allowName, rule } : null;
    case "block":
      if (effect.answer === "drop") return { action: "drop", answer: null, extendedError: null, allowName, rule };
      return { action: "block", answer: blockAnswer(effect.answer, policy.answer, query.type), extendedError: error, allowName, rule };
    case "records":
    case "rewrite":
      return { action: "rewrite", answer: rewriteAnswer(candidates, effect, query.type), extendedError: rewriteError(rule, error), allowName, rule };
    default:
      return effect satisfies never;
  }
}

function rewriteAnswer(candidates: readonly Candidate[], effect: Extract<RuleEffect, { kind: "records" | "rewrite" }>, type: number): VerdictAnswer {
  const records = candidates.flatMap(({ rule }) => (rule.effect.kind === "records" || rule.effect.kind === "rewrite" ? rule.effect.records : []));
  return effect.kind === "rewrite" && records.length === 0 ? { kind: effect.answer } : recordsAnswer(records, type);
}

/** Zones lead blocked names to a page that says so; other rewrites are how the site's names are meant to be. */
function rewriteError({ listKind }: MatchedRule, error: ExtendedError): ExtendedError | null {
  return listKind === "rpz" ? error : null;
}

/** The name of the record that was blocked; an address is not allowed by itself, so there it is the question. */
function allowNameOf({ record }: MatchedRule, { name }: DnsQuery): string {
  const isName = record.section === "cname" || record.section === "svcb" || record.section === "question";
  return (isName ? record.value : name).toLowerCase();
}

/** Whether a rule would have changed the answer. */
export function isIntervention({ effect }: MatchedRule): boolean {
  return effect.kind !== "allow" && effect.kind !== "no-rewrite";
}
