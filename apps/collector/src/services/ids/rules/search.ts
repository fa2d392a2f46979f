import type { IdsRule, IdsRuleDetails } from "@lanthorn/contract";
import { createEffective, type EffectiveRule, textOf } from "./effective.ts";
import type { Override, RuleContent, RuleRecord } from "./records.ts";

/** A rule set that is searched. */
export interface RuleSetContent {
  readonly rulesetId: string;
  readonly content: RuleContent;
}

/** Which rules, and which page of them. Texts in small letters. */
export interface RuleSearch {
  readonly siteId: string | null;
  readonly signatureId: number | null;
  readonly generatorId: number | null;
  readonly text: string | null;
  readonly category: string | null;
  readonly state: "enabled" | "disabled" | "refused" | "modified" | null;
  readonly technique: string | null;
  readonly from: number;
  readonly limit: number;
}

/** A page of what was found. */
export interface RulesFound {
  readonly rules: readonly IdsRule[];
  readonly total: number;
}

/** Rules of the active versions, by set and number. */
export function searchRules(sets: readonly RuleSetContent[], overrides: readonly Override[], search: RuleSearch): RulesFound {
  const effective = createEffective(overrides, search.siteId);
  const rules: IdsRule[] = [];
  let total = 0;
  for (const { rulesetId, content } of sets) {
    for (const record of content.rules) {
      if (!fits(record, search)) continue;
      const rule = effective(record);
      if (search.state !== null && !isState(rule, search.state)) continue;
      if (total >= search.from && rules.length < search.limit) rules.push(toRule(rulesetId, rule));
      total += 1;
    }
  }
  return { rules, total };
}

/** All that is known of the rules of one number: one of each set that has it. */
export function readRule(sets: readonly RuleSetContent[], overrides: readonly Override[], wanted: { readonly siteId: string | null; readonly gid: number; readonly sid: number }): readonly Omit<IdsRuleDetails, "alerts">[] {
  const effective = createEffective(overrides, wanted.siteId);
  return sets.flatMap(({ rulesetId, content }) => content.rules.filter(({ gid, sid }) => gid === wanted.gid && sid === wanted.sid).map((record) => {
    const rule = effective(record);
    const { text, faults } = textOf(rule);
    return {
      ...toRule(rulesetId, rule), text: readable(text), published_text: readable(record.text), metadata: record.metadata.map(([key, value]) => `${key} ${value}`),
      override_ids: rule.overrides.map(({ id }) => id), faults: faults.map(({ overrideId, reason }) => ({ override_id: overrideId, reason })),
    };
  }));
}

function fits(record: RuleRecord, { signatureId, generatorId, text, category, technique }: RuleSearch): boolean {
  if (signatureId !== null && record.sid !== signatureId) return false;
  if (generatorId !== null && record.gid !== generatorId) return false;
  if (category !== null && record.category !== category && record.file !== category && record.className !== category) return false;
  if (technique !== null && !record.techniques.some((one) => one.toLowerCase() === technique || one.toLowerCase().startsWith(`${technique}.`))) return false;
  return text === null || record.message.toLowerCase().includes(text) || record.text.toLowerCase().includes(text);
}

function isState({ record, isOn, overrides }: EffectiveRule, state: NonNullable<RuleSearch["state"]>): boolean {
  switch (state) {
    case "enabled": return isOn && record.refusal === null;
    case "disabled": return !isOn;
    case "refused": return isOn && record.refusal !== null;
    case "modified": default: return overrides.some(({ change }) => Object.keys(change).length > 0);
  }
}

function toRule(rulesetId: string, { record, isOn, overrides }: EffectiveRule): IdsRule {
  return {
    ruleset_id: rulesetId, generator_id: record.gid, signature_id: record.sid, revision: record.revision, signature: record.message, category: record.category,
    class: record.className, file: record.file, severity: record.severity, action: record.action, protocol: record.protocol,
    state: !isOn ? "disabled" : record.refusal === null ? "enabled" : "refused", published_enabled: record.isOn,
    modified: overrides.some(({ change }) => Object.keys(change).length > 0), refusal: record.refusal && { ...record.refusal }, mitre_techniques: [...record.techniques],
  };
}

/** @param text One character a byte. */
function readable(text: string): string {
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}
