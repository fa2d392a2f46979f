import { findBeside } from "./beside.ts";
import { buildBundle } from "./build-bundle.ts";
import { compareRules } from "./diff.ts";
import { createEffective } from "./effective.ts";
import { openContent, readPublished } from "./read-rules.ts";
import type { Override, RuleContent } from "./records.ts";
import { readRule, searchRules } from "./search.ts";
import { MAX_KEPT_VERSIONS, type RuleTask, type RuleTaskName, type RuleTasks, type SetSupport, type VersionRef, versionKey } from "./tasks.ts";

/** Does what the thread is asked. */
export type RuleWork = (task: RuleTask) => RuleTasks[RuleTaskName]["output"];

const MAX_REASONS = 200;

/** Versions stay parsed: the ones that were used last. */
export function createRuleWork(): RuleWork {
  const kept = new Map<string, RuleContent>();
  const contentOf = (ref: VersionRef): RuleContent => {
    const found = kept.get(versionKey(ref));
    if (!found) throw new Error(`version ${ref.version} of the rule set is not here`);
    return found;
  };
  return ({ name, input, refs, contents }) => {
    for (const { key, content } of contents) kept.set(key, openContent(content));
    for (const ref of refs) {
      const content = contentOf(ref);
      kept.delete(versionKey(ref));
      kept.set(versionKey(ref), content);
    }
    const all = refs.map(contentOf);
    const sets = refs.map((ref, index) => ({ rulesetId: ref.rulesetId, content: all[index] as RuleContent }));
    try {
      switch (name) {
        case "read": {
          const packed = readPublished(input.bytes, input.name);
          return { ...packed, diff: compareRules(all[0] ?? null, openContent(packed.content)).counts };
        }
        case "compare": return compareRules(all.length > 1 ? (all[0] ?? null) : null, all.at(-1) ?? { rules: [] });
        case "search": return searchRules(sets, input.overrides, input.search);
        case "rule": return readRule(sets, input.overrides, input);
        case "tested": return findBeside(sets, input.overrides, input);
        case "bundle": return buildBundle(all, input);
        case "support": default: return sets.map((set) => supportOf(set, input.overrides, input.siteId));
      }
    } finally {
      for (const key of [...kept.keys()].slice(0, Math.max(0, kept.size - MAX_KEPT_VERSIONS))) kept.delete(key);
    }
  };
}

function supportOf({ rulesetId, content }: { readonly rulesetId: string; readonly content: RuleContent }, overrides: readonly Override[], siteId: string | null): SetSupport {
  const effective = createEffective(overrides, siteId);
  const reasons = new Map<string, { readonly keyword: string; readonly reason: string; rules: number; readonly example: string }>();
  let [loaded, refused] = [0, 0];
  for (const record of content.rules) {
    if (!effective(record).isOn) continue;
    if (!record.refusal) {
      loaded += 1;
      continue;
    }
    refused += 1;
    const { keyword, reason } = record.refusal;
    const known = reasons.get(`${keyword} ${reason}`);
    if (known) known.rules += 1;
    else if (reasons.size < MAX_REASONS) reasons.set(`${keyword} ${reason}`, { keyword, reason, rules: 1, example: `${record.gid}:${record.sid}` });
  }
  return { rulesetId, loaded, refused, reasons: [...reasons.values()].toSorted((a, b) => b.rules - a.rules), unreadable: content.unreadable, unsetBits: content.unsetBits };
}
