import { IDS_BUNDLE_FILES, IDS_BUNDLE_RULES, type IdsBundleIndex, type IdsSuppression, MAX_IDS_REFUSALS } from "@lanthorn/contract";
import { createEffective, type OverrideFault, textOf } from "./effective.ts";
import { type Override, type RuleContent, type RuleRecord, ruleKey } from "./records.ts";

/** What a bundle is made of. */
export interface BundleOrder {
  readonly siteId: string;
  readonly builtAt: string;
  readonly overrides: readonly Override[];
  readonly suppressions: readonly IdsSuppression[];
  /** Variables of addresses that differ from the engine's own. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** A bundle's files, and what became of the rules. */
export interface BuiltBundle {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly rules: number;
  /** Enabled, and cannot be run. */
  readonly refused: number;
  readonly faults: readonly OverrideFault[];
}

/** A change of one rule is a change of one part, which is all that probes fetch. */
const PARTS_OF_LARGE = 16;
const LARGE = 500;
/** With `PARTS_OF_LARGE` of each, below the parts of a bundle. */
const MAX_CATEGORIES = 100;
const REST = "other";

/** @param contents Of the active versions; of a rule that several have, the higher revision counts, then the later set. */
export function buildBundle(contents: readonly RuleContent[], { siteId, builtAt, overrides, suppressions, addresses }: BundleOrder): BuiltBundle {
  const effective = createEffective(overrides, siteId);
  const chosen = new Map<string, RuleRecord>();
  for (const { rules } of contents) {
    for (const record of rules) {
      const other = chosen.get(ruleKey(record));
      if (!other || record.revision >= other.revision) chosen.set(ruleKey(record), record);
    }
  }
  const faults: OverrideFault[] = [];
  const byCategory = new Map<string, { readonly sid: number; readonly text: string }[]>();
  let [rules, refused] = [0, 0];
  for (const record of chosen.values()) {
    const rule = effective(record);
    if (!rule.isOn) continue;
    if (record.refusal) {
      refused += 1;
      continue;
    }
    const { text, faults: own } = textOf(rule);
    if (faults.length < MAX_IDS_REFUSALS) faults.push(...own);
    rules += 1;
    const known = byCategory.has(record.category) || byCategory.size < MAX_CATEGORIES;
    const key = known && record.category !== "" ? record.category.slice(0, 80) : REST;
    const listed = byCategory.get(key);
    if (listed) listed.push({ sid: record.sid, text });
    else byCategory.set(key, [{ sid: record.sid, text }]);
  }
  const index: IdsBundleIndex = { v: 1, site_id: siteId, built_at: builtAt, rules, addresses, ports: {} };
  const joined = (field: "classification" | "references" | "thresholds") => contents.map((content) => content[field]).filter(Boolean).join("\n");
  const plain = [
    [IDS_BUNDLE_FILES.classification, joined("classification")], [IDS_BUNDLE_FILES.references, joined("references")], [IDS_BUNDLE_FILES.thresholds, joined("thresholds")],
  ].filter(([, text]) => text !== "") as [string, string][];
  return {
    rules, refused, faults,
    files: new Map([
      [IDS_BUNDLE_FILES.index, Buffer.from(JSON.stringify(index))], [IDS_BUNDLE_FILES.suppressions, Buffer.from(JSON.stringify(suppressions))],
      ...plain.map(([path, text]): [string, Buffer] => [path, Buffer.from(text, "latin1")]), ...[...byCategory].flatMap(partsOf),
    ]),
  };
}

function partsOf([category, all]: readonly [string, readonly { readonly sid: number; readonly text: string }[]]): readonly [string, Buffer][] {
  const count = all.length > LARGE ? PARTS_OF_LARGE : 1;
  return Array.from({ length: count }, (_, index): [string, Buffer] => {
    const own = all.filter(({ sid }) => sid % count === index).toSorted((a, b) => a.sid - b.sid);
    const name = count === 1 ? category : `${category}-${String(index).padStart(2, "0")}`;
    return [`${IDS_BUNDLE_RULES}${name}.rules`, Buffer.from(own.map(({ text }) => `${text}\n`).join(""), "latin1")];
  }).filter(([, bytes]) => bytes.length > 0);
}
