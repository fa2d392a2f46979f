import { changeRule, parseRules } from "@lanthorn/ids";
import { type Override, type RuleRecord, ruleKey } from "./records.ts";

/** A rule as it counts, with what was said of it. */
export interface EffectiveRule {
  readonly record: RuleRecord;
  readonly isOn: boolean;
  readonly overrides: readonly Override[];
}

/** An override that a rule cannot follow: the rule stays as it was published. */
export interface OverrideFault {
  readonly overrideId: string;
  readonly rule: string;
  readonly reason: string;
}

const RANKS = { category: 0, metadata: 1, signature: 2 } as const;

/**
 * Which overrides a rule has, and whether it counts. One of a number wins over one of its metadata, that over one of its category; of a
 * site over all sites; the newer over the older.
 * @param overrides In the order in which they were made. @param siteId Null: those of sites do not count.
 */
export function createEffective(overrides: readonly Override[], siteId: string | null): (record: RuleRecord) => EffectiveRule {
  const rankOf = ({ kind, site_id: site }: Override) => 2 * RANKS[kind] + (site === null ? 0 : 1);
  const ordered = overrides.filter(({ site_id: site }) => site === null || site === siteId).toSorted((a, b) => rankOf(a) - rankOf(b));
  const places = new Map<string, number[]>();
  for (const [index, { kind, value }] of ordered.entries()) {
    const key = `${kind} ${value}`;
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  return (record) => {
    if (ordered.length === 0) return { record, isOn: record.isOn, overrides: [] };
    const indexes = new Set(keysOf(record).flatMap((key) => places.get(key) ?? []));
    const own = [...indexes].toSorted((a, b) => a - b).flatMap((index) => ordered[index] ?? []);
    const state = own.findLast((one) => one.state !== null)?.state;
    return { record, isOn: state === undefined || state === null ? record.isOn : state === "enabled", overrides: own };
  };
}

function keysOf(record: RuleRecord): readonly string[] {
  const categories = new Set([record.category, record.file, record.className]);
  return [
    `signature ${ruleKey(record)}`, ...[...categories].map((key) => `category ${key}`),
    ...record.metadata.map(([key, value]) => `metadata ${`${key} ${value}`.toLowerCase()}`),
  ];
}

/** A rule's text with what its overrides change. @returns The text, and what could not be changed. */
export function textOf({ record, overrides }: EffectiveRule): { readonly text: string; readonly faults: readonly OverrideFault[] } {
  let text = record.text;
  const faults: OverrideFault[] = [];
  for (const { id, change } of overrides.filter((one) => Object.keys(one.change).length > 0)) {
    const changed = changeRule(text, change);
    const { rules, refusals } = changed === null ? { rules: [], refusals: [] } : parseRules(Buffer.from(changed, "latin1"));
    const [rule] = rules;
    if (changed !== null && rule?.id === record.sid && rule.gid === record.gid) text = changed;
    else {
      const [refusal] = refusals;
      faults.push({ overrideId: id, rule: ruleKey(record), reason: refusal ? `${refusal.keyword}: ${refusal.reason}` : rule ? "it changes the rule's number" : "it is no rule any more" });
    }
  }
  return { text, faults };
}
