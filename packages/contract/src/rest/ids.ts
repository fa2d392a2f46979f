import * as z from "zod";
import { Id, Instant, Severity } from "../values.ts";
import { PageQuery } from "./envelopes.ts";

/** Rule sets of a tenant. */
export const MAX_IDS_RULESETS = 20;
/** Overrides of a tenant. */
export const MAX_IDS_OVERRIDES = 1000;
/** Versions of a rule set that are kept. */
export const MAX_IDS_VERSIONS = 5;
/** Characters of rules that are sent in a body. */
export const MAX_IDS_LOCAL_CHARACTERS = 524_288;

const Reason = z.string().trim().min(1).max(255);

/** Where rules come from. `local`: they are sent in the body, as `local.rules` are written by hand. */
export const IDS_RULESET_KINDS = ["url", "file", "local"] as const;

/** A version of a rule set. Counts are against the version that was active when it came. */
export const IdsRulesetVersion = z.object({
  version: z.int().min(1).describe("Its number. It rises with each version."),
  is_active: z.boolean().describe("Whether its rules are the ones that count."),
  is_held: z.boolean().describe("Whether it is held back, since it has less than half of the rules of the version before. `note` says so; activate it if it is right."),
  note: z.string().describe("What there is to know of it. Empty for nothing."),
  digest: z.string().describe("SHA-256 of what its rules say, in hexadecimal."),
  bytes: z.int().min(0).describe("Its size here, packed, in bytes."),
  rules: z.int().min(0).describe("Rules in it, those that it has switched off included."),
  enabled: z.int().min(0).describe("Rules that it has switched on."),
  refused: z.int().min(0).describe("Of those, rules that cannot be run."),
  added: z.int().min(0).describe("Rules that the version before did not have."),
  removed: z.int().min(0).describe("Rules of the version before that it does not have."),
  changed: z.int().min(0).describe("Rules that say something else, or are switched on or off."),
  newly_refused: z.int().min(0).describe("Rules that cannot be run, and could be, or were not there, before."),
  created_at: Instant.describe("When it came."),
  activated_at: Instant.nullable().describe("When it became active last. Null where it never was."),
});
export type IdsRulesetVersion = z.infer<typeof IdsRulesetVersion>;

/** Rules of one source. */
export const IdsRuleset = z.object({
  id: Id.describe("The rule set's id."),
  name: z.string().describe("Its name."),
  site_id: Id.nullable().describe("The site whose probes have it. Null for all sites."),
  kind: z.enum(IDS_RULESET_KINDS).describe("`url`: it is downloaded. `file`: it is read from the collector's folder of rule files. `local`: it is sent by the API."),
  url: z.string().nullable().describe("Where it is downloaded from. Null for other kinds."),
  file: z.string().nullable().describe("The file's name. Null for other kinds."),
  checksum_url: z.string().nullable().describe("Where the MD5 or SHA-256 of the download is. Null where it is not compared."),
  interval_hours: z.number().describe("How often it is asked for."),
  enabled: z.boolean().describe("Whether its rules are used and it is asked for."),
  automatic: z.boolean().describe("Whether a new version becomes active by itself, unless it is held back."),
  active: IdsRulesetVersion.nullable().describe("The version that counts. Null before the first."),
  checked_at: Instant.nullable().describe("When its source last answered well. Null for never."),
  next_at: Instant.nullable().describe("When it is asked for next. Null for never."),
  error: z.string().nullable().describe("Why the last update failed; the active version stays. Null where it did not."),
  created_by: z.string().describe("Name of the user who made it."),
  created_at: Instant.describe("When it was made."),
});
export type IdsRuleset = z.infer<typeof IdsRuleset>;

const RulesetFields = {
  name: z.string().trim().min(1).max(100).describe("Its name, for people."),
  checksum_url: z.url({ protocol: /^https?$/ }).max(2048).nullable().describe("Where the MD5 or SHA-256 of the download is, in hexadecimal at its beginning. Null for no comparison."),
  interval_hours: z.number().min(1).max(8760).describe("How often it is asked for."),
  enabled: z.boolean().describe("Whether its rules are used and it is asked for."),
  automatic: z.boolean().describe("Whether a new version becomes active by itself. One with less than half of the rules before is held back all the same."),
};
const Rules = z.string().min(1).max(MAX_IDS_LOCAL_CHARACTERS).describe("Rules in Suricata's language, one a line.");

/** Exactly one of `url`, `file` and `rules`. */
export const IdsRulesetCreate = z.strictObject({
  name: RulesetFields.name,
  site_id: Id.optional().describe("Only for this site. For all sites if left out."),
  url: z.url({ protocol: /^https?$/ }).max(2048).optional().describe("Where it is downloaded from: a tar archive packed by gzip, as rule sets are published, or a file of rules."),
  file: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}$/).optional().describe("Name of a file in the collector's folder `ids-rules`."),
  rules: Rules.optional(),
  checksum_url: RulesetFields.checksum_url.optional(),
  interval_hours: RulesetFields.interval_hours.default(24),
  enabled: RulesetFields.enabled.default(true),
  automatic: RulesetFields.automatic.default(true),
}).refine(({ url, file, rules }) => [url, file, rules].filter((one) => one !== undefined).length === 1, "exactly one of url, file and rules is needed");
export type IdsRulesetCreate = z.infer<typeof IdsRulesetCreate>;

/** Fields left out stay. */
export const IdsRulesetUpdate = z.strictObject({
  ...z.object(RulesetFields).partial().shape,
  rules: Rules.optional().describe("Of a rule set of the kind `local`: its rules from now on, in a version of their own."),
});
export type IdsRulesetUpdate = z.infer<typeof IdsRulesetUpdate>;

/** What differs between two versions. */
export const IdsRuleDifference = z.object({
  change: z.enum(["added", "removed", "changed", "newly_refused"]).describe("What happened to the rule. A rule that is newly refused is also added or changed."),
  generator_id: z.int().describe("Group of the signature's number."),
  signature_id: z.int().describe("Number of the rule."),
  signature: z.string().describe("The rule's text for people."),
  revision_before: z.int().nullable().describe("Its revision before. Null where it was not there."),
  revision: z.int().nullable().describe("Its revision in this version. Null where it is not there."),
  reason: z.string().nullable().describe("Why it cannot be run. Null where it can."),
});
export type IdsRuleDifference = z.infer<typeof IdsRuleDifference>;

/** With what a version is compared. */
export const IdsDiffQuery = PageQuery.extend({ against: z.coerce.number().int().min(1).max(1_000_000_000).optional().describe("The version to compare with. The active one if left out.") });

export type IdsDiffQuery = z.infer<typeof IdsDiffQuery>;

/** `state` of a rule. */
export const IDS_RULE_STATES = ["enabled", "disabled", "refused"] as const;

/** A rule of an active version, as it counts. */
export const IdsRule = z.object({
  ruleset_id: Id.describe("The rule set that has it."),
  generator_id: z.int().describe("Group of the signature's number; 1 for most."),
  signature_id: z.int().describe("Number of the rule."),
  revision: z.int().describe("Its revision."),
  signature: z.string().describe("The rule's text for people."),
  category: z.string().describe("Its category, as `et-info`: of its text for people, else of its file."),
  class: z.string().describe("Its class, as `trojan-activity`. Empty for none."),
  file: z.string().describe("The file that it was published in, without its ending."),
  severity: Severity.describe("How grave it is: by `signature_severity` of its metadata, else by its class."),
  action: z.string().describe("What it asks for, as `alert`. Probes only alert."),
  protocol: z.string().describe("The protocol of its header."),
  state: z.enum(IDS_RULE_STATES).describe("`enabled`: probes use it. `disabled`: switched off, by its publisher or an override. `refused`: it is switched on and cannot be run."),
  published_enabled: z.boolean().describe("Whether its publisher has it switched on."),
  modified: z.boolean().describe("Whether an override changes what it says."),
  refusal: z.object({ keyword: z.string().describe("What in it is not run."), reason: z.string().describe("Why it is so.") }).nullable().describe("Why it cannot be run. Null where it can."),
  mitre_techniques: z.array(z.string()).describe("MITRE ATT&CK techniques that it names."),
});
export type IdsRule = z.infer<typeof IdsRule>;

/** A rule with all that is known of it. */
export const IdsRuleDetails = IdsRule.extend({
  text: z.string().describe("The rule as probes get it."),
  published_text: z.string().describe("The rule as it was published."),
  metadata: z.array(z.string()).describe("Its metadata, each as `key value`."),
  override_ids: z.array(Id).describe("Overrides that it has, the strongest last."),
  faults: z.array(z.object({ override_id: Id.describe("The override."), reason: z.string().describe("Why it is not followed.") })).describe("Overrides that it cannot follow."),
  alerts: z.int().min(0).describe("How often it matched at the tenant's sites, as far as that is kept: 90 days."),
});
export type IdsRuleDetails = z.infer<typeof IdsRuleDetails>;

/** Which rules. */
export const IdsRulesQuery = z.object({
  page: PageQuery.shape.page, per_page: PageQuery.shape.per_page,
  site_id: Id.optional().describe("As they count at this site. Without it, as at sites that change nothing."),
  ruleset_id: Id.optional().describe("Only of this rule set."),
  signature_id: z.coerce.number().int().min(0).max(4_294_967_295).optional().describe("Only of this number."),
  generator_id: z.coerce.number().int().min(0).max(4_294_967_295).optional().describe("Only of this group."),
  search: z.string().trim().min(1).max(200).optional().describe("Part of the rule, in any case."),
  category: z.string().trim().min(1).max(100).optional().describe("Only of this category, class or file, as `et-malware`, `ET MALWARE` or `trojan-activity`."),
  state: z.enum([...IDS_RULE_STATES, "modified"]).optional().describe("Only rules in this state."),
  technique: z.string().regex(/^[Tt]\d{4}(?:\.\d{3})?$/).optional().describe("Only rules that name this ATT&CK technique, or one below it."),
});
export type IdsRulesQuery = z.infer<typeof IdsRulesQuery>;

/** Where a rule is read as it counts. */
export const IdsRuleQuery = z.object({
  site_id: Id.optional().describe("As it counts at this site."),
  generator_id: z.coerce.number().int().min(0).max(4_294_967_295).default(1).describe("Group of the signature's number."),
});

/** `kind` of an override: what it is of. */
export const IDS_OVERRIDE_KINDS = ["signature", "category", "metadata"] as const;

const THRESHOLD = /^type (?:limit|threshold|both), track (?:by_src|by_dst|by_both|by_rule|by_flow), count \d{1,9}, seconds \d{1,9}$/;

/** What an override changes in rules. */
const IdsRuleChange = z.strictObject({
  action: z.enum(["alert", "pass", "drop", "reject"]).optional().describe("Another action."),
  priority: z.int().min(1).max(255).optional().describe("Another priority; 1 is the gravest."),
  threshold: z.string().max(200).regex(THRESHOLD, "as type limit, track by_src, count 1, seconds 3600").nullable().optional()
    .describe("Another threshold, as `type limit, track by_src, count 1, seconds 3600`. Null takes the rule's own out.")
    .meta({ examples: ["type limit, track by_src, count 1, seconds 3600"] }),
  replace: z.array(z.strictObject({
    from: z.string().min(1).max(500).regex(/^[^\n\r]*$/).describe("The text as it stands in the rule's options."), to: z.string().max(500).regex(/^[^\n\r]*$/).describe("What stands there instead."),
  })).max(10).optional().describe("Texts that are replaced, as they are written; no patterns."),
});

const OverrideFields = {
  kind: z.enum(IDS_OVERRIDE_KINDS).describe("`signature`: the rule of a number. `category`: all of a category, class or file. `metadata`: all with this metadata."),
  value: z.string().trim().min(1).max(200).describe("As `2010935` or `3:2010935`, `ET INFO` or `policy-violation`, `deployment Perimeter`."),
};

/** What people change in rules: which count, and what they say. */
export const IdsOverride = z.object({
  id: Id.describe("The override's id."),
  site_id: Id.nullable().describe("The site where it holds. Null for all sites."),
  kind: OverrideFields.kind,
  value: z.string().describe("What it is of, as it is compared: `1:2010935`, `et-info`, `deployment perimeter`."),
  state: z.enum(["enabled", "disabled"]).nullable().describe("Whether the rules count. Null: as before."),
  change: IdsRuleChange.describe("What the rules say instead."),
  reason: z.string().describe("Why it is so."),
  created_by: z.string().describe("Name of the user who made it."),
  created_at: Instant.describe("When it was made."),
});
export type IdsOverride = z.infer<typeof IdsOverride>;

/** At least one of `state` and `change`. */
export const IdsOverrideCreate = z.strictObject({
  ...OverrideFields,
  site_id: Id.optional().describe("Only at this site. At all sites if left out."),
  state: z.enum(["enabled", "disabled"]).optional().describe("Whether the rules count."),
  change: IdsRuleChange.optional().describe("What the rules say instead."),
  reason: Reason.describe("Why, for later readers."),
}).refine(({ state, change }) => state !== undefined || Object.keys(change ?? {}).length > 0, "at least one of state and change is needed")
  .refine(({ kind, value }) => kind !== "signature" || /^(?:\d{1,10}:)?\d{1,10}$/.test(value), { path: ["value"], message: "must be a rule's number, as 2010935 or 3:2010935" });
export type IdsOverrideCreate = z.infer<typeof IdsOverrideCreate>;
