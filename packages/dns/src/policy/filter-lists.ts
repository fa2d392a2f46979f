/**
 * The precedence among rules of filter lists: rewrites that no exception takes away; important exceptions; important blocks; exceptions; blocks. Of equal
 * ones that of the longest name decides, then that of the first list.
 * @see https://adguard-dns.io/kb/general/dns-filtering-syntax/#rule-modifiers
 */
import { DNS_TYPE } from "@lanthorn/packets";
import type { RuleEffect } from "../lists/list-rule.ts";
import type { Candidate } from "./rule-match.ts";

/** @param candidates Rules that hold and stand, as `findRules` orders them. @returns Those that decide together, the first before the others; none where nothing does. */
export function decideFilter(standing: readonly Candidate[]): readonly Candidate[] {
  const rewrites = decideRewrite(standing);
  if (rewrites.length > 0) return rewrites;
  const isAllow = ({ rule }: Candidate) => rule.effect.kind === "allow";
  const isBlock = ({ rule }: Candidate) => rule.effect.kind === "block" || rule.effect.kind === "records";
  const isImportant = ({ rule }: Candidate) => rule.isImportant;
  const first = standing.find((one) => isImportant(one) && isAllow(one)) ?? standing.find((one) => isImportant(one) && isBlock(one))
    ?? standing.find(isAllow) ?? standing.find(isBlock);
  if (first === undefined) return [];
  // A list may give a name several addresses, each in a line.
  return first.rule.effect.kind === "records" ? [first, ...standing.filter((one) => one !== first && isRecordOf(one, first))] : [first];
}

function isRecordOf({ rule, above, set, stored }: Candidate, first: Candidate): boolean {
  return rule.effect.kind === "records" && above === first.above && set === first.set && stored.list === first.stored.list;
}

/** `$badfilter` takes away rules of any list that are for the same name and otherwise the same. @returns Those that stand. */
export function withoutCancelled(candidates: readonly Candidate[]): readonly Candidate[] {
  const cancels = candidates.filter(({ stored }) => stored.body.isCancel);
  if (cancels.length === 0) return candidates;
  const textOf = ({ above, stored }: Candidate) => JSON.stringify([above, stored.scope, stored.body.effect, stored.body.conditions]);
  const cancelled = new Set(cancels.map(textOf));
  return candidates.filter((one) => !one.stored.body.isCancel && !cancelled.has(textOf(one)));
}

/** Response codes first, then a CNAME, then all records together. */
function decideRewrite(candidates: readonly Candidate[]): readonly Candidate[] {
  const exceptions = candidates.flatMap(({ rule }) => (rule.effect.kind === "no-rewrite" ? [rule.effect.rewrite] : []));
  if (exceptions.includes(null)) return [];
  const excepted = new Set(exceptions.map((rewrite) => JSON.stringify(rewrite)));
  const rewrites = candidates.filter(({ rule }) => rule.effect.kind === "rewrite" && !excepted.has(JSON.stringify(rule.effect)));
  const keyword = rewrites.find(({ rule }) => isRewrite(rule.effect) && rule.effect.records.length === 0);
  const alias = rewrites.find(({ rule }) => isRewrite(rule.effect) && rule.effect.records.some(({ type }) => type === DNS_TYPE.cname));
  const only = keyword ?? alias;
  return only ? [only] : rewrites;
}

function isRewrite(effect: RuleEffect): effect is Extract<RuleEffect, { kind: "rewrite" }> {
  return effect.kind === "rewrite";
}
