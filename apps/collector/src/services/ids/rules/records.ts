import type { RuleChange, RuleSeverity } from "@lanthorn/ids";

/** A rule as it was published, with what is shown and searched of it. Texts are one character a byte where they are `text`, else UTF-8. */
export interface RuleRecord {
  readonly gid: number;
  readonly sid: number;
  readonly revision: number;
  readonly message: string;
  /** As `classtype` names it; empty for none. */
  readonly className: string;
  readonly severity: RuleSeverity;
  readonly action: string;
  readonly protocol: string;
  /** False where it was published switched off. */
  readonly isOn: boolean;
  /** Key of the category: of its message, else of its file. */
  readonly category: string;
  /** Key of the file's name without its ending. */
  readonly file: string;
  readonly techniques: readonly string[];
  readonly metadata: readonly (readonly [key: string, value: string])[];
  /** Why it cannot be run; null where it can. */
  readonly refusal: { readonly keyword: string; readonly reason: string } | null;
  readonly text: string;
}

/** A line that is no rule with a number. */
export interface UnreadableRule {
  readonly file: string;
  readonly line: number;
  readonly keyword: string;
  readonly reason: string;
}

/** What a version of a rule set says, in order of file and line. It is stored as JSON, packed by gzip. */
export interface RuleContent {
  readonly v: 1;
  readonly rules: readonly RuleRecord[];
  readonly unreadable: readonly UnreadableRule[];
  readonly unsetBits: readonly string[];
  /** Of all such files together; empty for none. One character a byte. */
  readonly classification: string;
  readonly references: string;
  readonly thresholds: string;
}

/** How much there is in a version. */
export interface RuleCounts {
  readonly rules: number;
  readonly enabled: number;
  /** Of those that are enabled. */
  readonly refused: number;
}

/** What people say of rules: all of a category, with a metadata entry, or of one number. */
export interface Override {
  readonly id: string;
  readonly site_id: string | null;
  readonly kind: "signature" | "category" | "metadata";
  /** `1:2010935`, the key of a category or class, `key value` in small letters. */
  readonly value: string;
  readonly state: "enabled" | "disabled" | null;
  readonly change: RuleChange;
}

/** Which rule it is, among all. */
export function ruleKey({ gid, sid }: Pick<RuleRecord, "gid" | "sid">): string {
  return `${gid}:${sid}`;
}
