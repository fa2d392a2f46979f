import type { IdsRuleDetails } from "@lanthorn/contract";
import type { RuleBeside } from "./beside.ts";
import type { BuiltBundle, BundleOrder } from "./build-bundle.ts";
import type { RulesDiff } from "./diff.ts";
import type { PackedRules } from "./read-rules.ts";
import type { Override, UnreadableRule } from "./records.ts";
import type { RuleSearch, RulesFound } from "./search.ts";

/** A version whose content the thread has or is given. */
export interface VersionRef {
  readonly rulesetId: string;
  readonly version: number;
}

/** Versions that the thread keeps parsed: some 60 MB each of Emerging Threats' size. */
export const MAX_KEPT_VERSIONS = 6;

/** What is wrong with the rules of a set. */
export interface SetSupport {
  readonly rulesetId: string;
  readonly loaded: number;
  readonly refused: number;
  /** How many rules each keyword refuses, the most first. */
  readonly reasons: readonly { readonly keyword: string; readonly reason: string; readonly rules: number; readonly example: string }[];
  readonly unreadable: readonly UnreadableRule[];
  readonly unsetBits: readonly string[];
}

/** What the thread does. Versions that a question names are `refs`. */
export interface RuleTasks {
  /** Reads what was published. `refs`: the active version, which it is compared with. */
  read: { readonly input: { readonly bytes: Uint8Array; readonly name: string }; readonly output: PackedRules & { readonly counts: PackedRules["counts"]; readonly diff: RulesDiff["counts"] } };
  /** `refs`: the older, where there is one, and the newer. */
  compare: { readonly input: null; readonly output: RulesDiff };
  search: { readonly input: { readonly overrides: readonly Override[]; readonly search: RuleSearch }; readonly output: RulesFound };
  rule: {
    readonly input: { readonly overrides: readonly Override[]; readonly siteId: string | null; readonly gid: number; readonly sid: number };
    readonly output: readonly Omit<IdsRuleDetails, "alerts">[];
  };
  /** Null where no active version has it. */
  tested: { readonly input: { readonly overrides: readonly Override[]; readonly siteId: string | null; readonly gid: number; readonly sid: number }; readonly output: RuleBeside | null };
  bundle: { readonly input: BundleOrder; readonly output: BuiltBundle };
  support: { readonly input: { readonly overrides: readonly Override[]; readonly siteId: string | null }; readonly output: readonly SetSupport[] };
}

/** The name of a question. */
export type RuleTaskName = keyof RuleTasks;

/** A question as it is sent; `contents` are of versions that the thread does not have. */
export type RuleTask = { readonly [N in RuleTaskName]: {
  readonly id: number; readonly name: N; readonly input: RuleTasks[N]["input"]; readonly refs: readonly VersionRef[];
  readonly contents: readonly { readonly key: string; readonly content: Uint8Array }[];
} }[RuleTaskName];

/** By which the thread keeps a version. */
export function versionKey({ rulesetId, version }: VersionRef): string {
  return `${rulesetId}/${version}`;
}
