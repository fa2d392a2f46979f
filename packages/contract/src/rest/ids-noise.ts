import * as z from "zod";
import { IdsState } from "../uplink/ids/state.ts";
import { Id, Instant, IpNetwork } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";

const RuleNumber = z.int().min(0).max(4_294_967_295);
const Reason = z.string().trim().min(1).max(255);

const SuppressionParts = {
  signature_id: RuleNumber, generator_id: RuleNumber, category: z.string().trim().min(1).max(100), source: IpNetwork, destination: IpNetwork, network: IpNetwork, device_id: Id,
};

/** Alerts that are silent, and counted: those that every part which is not null fits. */
export const IdsSuppressionRecord = z.object({
  id: Id.describe("The suppression's id."),
  site_id: Id.nullable().describe("The site where it holds. Null for all sites."),
  signature_id: RuleNumber.nullable().describe("Number of the rule. Null for any."),
  generator_id: RuleNumber.describe("Group of the signature's number."),
  category: z.string().nullable().describe("The category or class, as `et-info`. Null for any."),
  source: z.string().nullable().describe("Address or network that the packets came from. Null for any."),
  destination: z.string().nullable().describe("Address or network that they went to. Null for any."),
  network: z.string().nullable().describe("Address or network of either end. Null for any."),
  device_id: Id.nullable().describe("The device at either end. Null for any."),
  reason: z.string().describe("Why they are silent."),
  hits: z.int().min(0).describe("How often it fitted, at the collector and at probes since each began to count."),
  last_hit_at: Instant.nullable().describe("When it last fitted at the collector. Null for never."),
  created_by: z.string().describe("Name of the user who made it."),
  created_at: Instant.describe("When it was made."),
  expires_at: Instant.nullable().describe("When it ends. Null for one without an end."),
});
export type IdsSuppressionRecord = z.infer<typeof IdsSuppressionRecord>;

/** At least one part beside the site. */
export const IdsSuppressionCreate = z.strictObject({
  site_id: Id.optional().describe("Only at this site. At all sites if left out."),
  signature_id: SuppressionParts.signature_id.optional().describe("Number of the rule. Any if left out."),
  generator_id: SuppressionParts.generator_id.default(1).describe("Group of the signature's number."),
  category: SuppressionParts.category.optional().describe("The category or class, as `ET INFO`. Any if left out."),
  source: SuppressionParts.source.optional().describe("Address or network that the packets came from."),
  destination: SuppressionParts.destination.optional().describe("Address or network that they went to."),
  network: SuppressionParts.network.optional().describe("Address or network of either end."),
  device_id: SuppressionParts.device_id.optional().describe("The device at either end."),
  reason: Reason.describe("Why they are silent, for later readers."),
  expires_at: Instant.optional().describe("When it ends. It has no end if left out."),
}).refine(
  ({ signature_id: signature, category, source, destination, network, device_id: device }) => [signature, category, source, destination, network, device].some((part) => part !== undefined),
  "at least one of signature_id, category, source, destination, network and device_id is needed",
);
export type IdsSuppressionCreate = z.infer<typeof IdsSuppressionCreate>;

/** Of which part of the network. */
export const IdsSiteQuery = z.object({ site_id: Id.optional().describe("Only this site.") });

/** Which rules are loaded and which are refused. */
export const IdsSupport = z.object({
  rulesets: z.array(z.object({
    ruleset_id: Id.describe("The rule set."),
    name: z.string().describe("Its name."),
    loaded: z.int().min(0).describe("Rules that are enabled and can be run."),
    refused: z.int().min(0).describe("Rules that are enabled and cannot."),
    reasons: z.array(z.object({
      keyword: z.string().describe("What in the rules is not run."), reason: z.string().describe("Why it is so."), rules: z.int().min(0).describe("How many rules have it."),
      example: z.string().describe("One of them, as `1:2010935`."),
    })).describe("Why rules are refused, the most frequent first."),
    unreadable: z.array(z.object({
      file: z.string().describe("The file."), line: z.int().describe("The line."), keyword: z.string().describe("What is wrong."), reason: z.string().describe("Why it is so."),
    })).describe("Lines that are no rules with a number."),
    unset_bits: z.array(z.string()).describe("Flowbits that rules ask for and none sets, so that these never match."),
  })).describe("Each enabled rule set with an active version."),
  probes: z.array(z.object({
    probe_id: Id.describe("The probe."),
    name: z.string().describe("Its name."),
    site_id: Id.describe("Its site."),
    offered_version: z.int().nullable().describe("The version of the site's rules that it was offered last. Null for none."),
    bundle_error: z.string().nullable().describe("Why it does not use them. Null where nothing is wrong."),
    ids: IdsState.nullable().describe("How its intrusion detection is, as it reported last. Null where it has not."),
  })).describe("Probes, but for revoked ones."),
  sites: z.array(z.object({
    site_id: Id.describe("The site."),
    version: z.int().describe("Version of the rules that its probes are offered."),
    rules: z.int().describe("Rules in it."),
    refused: z.int().describe("Enabled rules that are not in it, since they cannot be run."),
    faults: z.array(z.object({ override_id: Id.describe("The override."), rule: z.string().describe("The rule."), reason: z.string().describe("Why it is so.") })).describe("Overrides that rules could not follow."),
    error: z.string().nullable().describe("Why the newest rules could not be made into a bundle. Null where nothing is wrong."),
    built_at: Instant.describe("When it was made."),
  })).describe("What sites were given last."),
});
export type IdsSupport = z.infer<typeof IdsSupport>;

/** How much alerts there are, and of what. */
export const IdsStats = z.object({
  days: z.int().min(1).describe("Of how many days, today included."),
  alerts: z.int().min(0).describe("How often rules matched."),
  suppressed: z.int().min(0).describe("How often that was silent by a suppression, at the collector."),
  would_block: z.int().min(0).describe("How often a rule that matched asks for the packet to be blocked."),
  is_first_week: z.boolean().describe("Whether the first alert is less than a week old: the time to suppress what is normal here."),
  noisiest: z.array(z.object({
    generator_id: z.int().describe("Group of the signature's number."),
    signature_id: z.int().describe("Number of the rule."),
    signature: z.string().describe("The rule's text for people."),
    category: z.string().describe("What kind of attack it is."),
    alerts: z.int().describe("How often it matched and was not suppressed."),
    suppressed: z.int().describe("How often it was suppressed."),
    hosts: z.int().describe("At how many hosts of ours."),
    share: z.number().min(0).max(1).describe("Its share of all that was not suppressed."),
    suggestion: z.object({
      signature_id: z.int().describe("Number of the rule."), generator_id: z.int().describe("Group of the number."),
      network: z.string().optional().describe("The one host that has nearly all of them. Left out where it is no single one."), reason: z.string().describe("What a reader will see."),
    }).nullable().describe("A body for `POST /ids/suppressions` that would silence it. Null where it is not noisy."),
  })).describe("Signatures that matched most, at most 20."),
});
export type IdsStats = z.infer<typeof IdsStats>;

/** Of which part and how long. */
export const IdsStatsQuery = IdsSiteQuery.extend({ days: z.coerce.number().int().min(1).max(90).default(7).describe("Of how many days, today included.") });

/** Suppressions, those that have ended left out. */
export const IdsSuppressionsQuery = IdPageQuery.extend({ site_id: Id.optional().describe("Only those of this site, and of all sites.") });
