import * as z from "zod";
import { BASELINE_FACTS, BASELINE_OUTCOMES } from "../events/security.ts";
import { Id, Instant, Severity } from "../values.ts";
import { IdPageQuery, listQuery, PageQuery } from "./envelopes.ts";
import { PlainText, withoutControls } from "./plain-text.ts";

/** Facts that a baseline may have: a device with more is a honeypot or a tarpit. What comes beyond is neither kept nor compared. */
export const MAX_BASELINE_FACTS = 4096;
/** Facts that one edit of a baseline, or one template, may have. */
export const MAX_BASELINE_EDIT = 500;
/** Acceptances that a tenant may have. */
export const MAX_BASELINE_ACCEPTANCES = 10_000;
/** Templates that a tenant may have. */
export const MAX_BASELINE_TEMPLATES = 1000;
/** Maintenance windows that a tenant may have. */
export const MAX_BASELINE_WINDOWS = 1000;
/** The longest reason, in characters. */
const MAX_REASON = 255;

const Reason = PlainText(MAX_REASON).min(1).describe("Why it is right, for later readers.");
const Tag = PlainText(64).min(1);

const FactKind = z.enum(BASELINE_FACTS);
const kind = FactKind.describe("What kind of fact it is. `device`, `dhcp_server`, `gateway` and `dns_server` are facts of a site, the others of a device.");
const key = withoutControls(z.string().min(1).max(255)).describe(
  "Which one among those of its kind: `tcp/22` for a port, service or host key, `tls` for the certificates of a device, an address for a server or "
  + "gateway, a device's id for a device, the own port for a neighbor, `week` for presence.",
);
const value = withoutControls(z.string().max(1024)).describe(
  "What it is: `open` for a port, name and version of a service, a fingerprint, a MAC address, the other side of a neighbor, the usual hours.",
);

/** `learning`: what is seen becomes part of the baseline. `active`: differences are reported. `frozen`: so, and nothing becomes part by itself. */
export const BASELINE_STATES = ["learning", "active", "frozen"] as const;
/** Where a fact of a baseline comes from. */
const FACT_SOURCES = ["learned", "approved", "edited", "window"] as const;

/** `usual`: when it usually is there, as learned. */
const EXPECTED = ["always", "usual", "never"] as const;

/** How severe differences of each kind of fact are at a site; `off` for none. */
const Severities = z.partialRecord(FactKind, z.enum([...Severity.options, "off"]));

/** What is normal of a site or a device: the head of a list of facts. */
export const Baseline = z.object({
  id: Id.describe("The baseline's id."),
  site_id: Id.describe("The site."),
  device_id: Id.nullable().describe("The device. Null for the baseline of the site itself."),
  name: z.string().describe("Name of the site, or name or address of the device."),
  state: z.enum(BASELINE_STATES).describe(
    "`learning`: what is seen becomes part of the baseline. `active`: differences are reported. `frozen`: differences are reported, and nothing becomes "
    + "part of the baseline by itself.",
  ),
  learning_until: Instant.nullable().describe("When the learning period ends. Null where it has ended."),
  approved_by: z.string().nullable().describe("Name of the user who approved it last. Null where nobody has."),
  approved_at: Instant.nullable().describe("When it was approved last. Null where it was not."),
  expected: z.enum(EXPECTED).nullable().describe(
    "When the device is missed: `always`, at its `usual` hours, or `never`. Null for what its presence so far says, and for a site.",
  ),
  missing_minutes: z.int().min(5).max(43_200).describe("After how many minutes a device that is expected counts as missing. Devices use their site's."),
  severities: Severities.describe("How severe differences are, by kind of fact; `off` reports none. A kind that is left out has its usual severity. Devices use their site's."),
  facts: z.partialRecord(FactKind, z.int().min(0)).describe("How many facts there are, by kind."),
  open_differences: z.int().min(0).describe("How many differences are open."),
  left_out: z.array(z.enum(["facts", "differences"])).describe(
    `What there is more of than is kept. \`facts\`: it has ${MAX_BASELINE_FACTS} facts, beside devices; what is there beyond them is neither kept nor compared. \`differences\`: `
    + "so many have not ended (1000 of a device, 25000 of a site with its devices, 100000 of a tenant) that more are not kept until some are accepted or approved.",
  ),
  templates: z.array(z.object({ id: Id.describe("The template's id."), name: z.string().describe("The template's name.") }))
    .describe("Templates whose facts count for it as well."),
});
export type Baseline = z.infer<typeof Baseline>;

/** Which baselines to list. */
export const BaselinesQuery = IdPageQuery.extend({
  site_id: Id.optional().describe("Baselines of this site and of its devices."),
  device_id: Id.optional().describe("The baseline of this device."),
  of: z.enum(["site", "device"]).optional().describe("`site`: only baselines of sites. `device`: only those of devices."),
  state: listQuery(BASELINE_STATES).optional().describe("Baselines in these states, with commas between them."),
});
export type BaselinesQuery = z.infer<typeof BaselinesQuery>;

/** Fields left out stay. */
export const BaselineUpdate = z.strictObject({
  expected: z.enum(EXPECTED).nullish().describe("When the device is missed. Null for what its presence so far says. Only for a device."),
  missing_minutes: Baseline.shape.missing_minutes.optional(),
  severities: Severities.optional().describe("In place of those that are set. Only for a site, as `missing_minutes`."),
}).describe("What to change.");
export type BaselineUpdate = z.infer<typeof BaselineUpdate>;

/** One thing that is normal. */
export const BaselineFact = z.object({
  kind, key, value,
  source: z.enum(FACT_SOURCES).describe("Where it comes from. `window`: learned in a maintenance window."),
  author: z.string().nullable().describe("Name of the user who approved or edited it, or made the window. Null where it was learned."),
  reason: z.string().nullable().describe("Why it is right. Null where nobody said."),
  first_seen: Instant.describe("When it became part of the baseline."),
  looked_at: Instant.nullable().describe("When it was last looked for. Null where it never was."),
  scope: z.string().describe("What looked for it, as `scan standard` or `probe Office`. Empty where nothing has."),
});
export type BaselineFact = z.infer<typeof BaselineFact>;

/** Which facts to list. */
export const BaselineFactsQuery = PageQuery.extend({
  kind: listQuery(BASELINE_FACTS).optional().describe("Facts of these kinds, with commas between them."),
});
export type BaselineFactsQuery = z.infer<typeof BaselineFactsQuery>;

/** Facts to set and to remove by hand. */
export const BaselineFactsEdit = z.strictObject({
  set: z.array(z.strictObject({ kind, key, value })).max(MAX_BASELINE_EDIT).default([]).describe("Facts to add, or to change."),
  remove: z.array(z.strictObject({ kind, key })).max(MAX_BASELINE_EDIT).default([]).describe("Facts to remove."),
  reason: Reason,
}).refine(({ set, remove }) => set.length + remove.length > 0, "set or remove is needed");
export type BaselineFactsEdit = z.infer<typeof BaselineFactsEdit>;

/** To say that a baseline is right. */
export const BaselineApprove = z.strictObject({
  reason: Reason.optional(),
  take_differences: z.boolean().default(false).describe("Whether what differs now becomes part of the baseline. False: the baseline is right as it is."),
  devices: z.boolean().default(false).describe("For a site: whether its devices' baselines are approved as well."),
});
export type BaselineApprove = z.infer<typeof BaselineApprove>;

/** To forget all facts and learn again. */
export const BaselineReset = z.strictObject({
  learning_minutes: z.int().min(0).max(43_200).default(1440).describe("For how many minutes it learns. 0: only what is known now."),
  devices: z.boolean().default(false).describe("For a site: whether its devices' baselines are reset as well."),
  reason: Reason,
});
export type BaselineReset = z.infer<typeof BaselineReset>;

/**
 * `pending`: seen once, not yet reported. `open`: reported. `held`: seen in a maintenance window. `accepted`: a user said that it is right.
 * `ended`: it does not differ any more.
 */
export const DIFFERENCE_STATES = ["pending", "open", "held", "accepted", "ended"] as const;

/** Something that differs from a baseline, before and after. */
export const BaselineDifference = z.object({
  id: Id.describe("The difference's id."),
  baseline_id: Id.describe("The baseline that it differs from."),
  site_id: Id.describe("The site."),
  device_id: Id.nullable().describe("The device. Null for one of the site itself."),
  name: z.string().describe("Name or address of the device, or name of the site."),
  kind, key,
  outcome: z.enum(BASELINE_OUTCOMES).describe(
    "`appeared`: not in the baseline, though it was looked for. `gone`: it was looked for, and is not there. `changed`: it is another value. `replaced`: "
    + "another thing is in its place. `not_checked`: nobody looked for it lately.",
  ),
  expected: z.string().describe("What the baseline has. Empty for nothing."),
  observed: z.string().describe("What is there now. Empty for nothing."),
  expected_at: Instant.nullable().describe("When that was last seen so. Null where it never was."),
  observed_at: Instant.nullable().describe("When this was looked at. Null where it was not."),
  severity: Severity.describe("How severe it is."),
  state: z.enum(DIFFERENCE_STATES).describe(
    "`pending`: seen once, not yet reported. `open`: reported. `held`: seen in a maintenance window. `accepted`: a user said that it is right. `ended`: it "
    + "does not differ any more.",
  ),
  first_seen: Instant.describe("When it was seen first."),
  last_seen: Instant.describe("When it was seen last."),
  ended_at: Instant.nullable().describe("When it ended. Null where it has not."),
  acceptance_id: Id.nullable().describe("What accepted it. Null where nothing has."),
});
export type BaselineDifference = z.infer<typeof BaselineDifference>;

/** Which differences to list, the newest first. */
export const BaselineDifferencesQuery = IdPageQuery.extend({
  site_id: Id.optional().describe("Differences of this site and of its devices."),
  device_id: Id.optional().describe("Differences of this device."),
  baseline_id: Id.optional().describe("Differences from this baseline."),
  kind: listQuery(BASELINE_FACTS).optional().describe("Of these kinds of facts, with commas between them."),
  outcome: listQuery(BASELINE_OUTCOMES).optional().describe("With these outcomes, with commas between them. `not_checked` lists facts that nobody looked for in a week."),
  state: listQuery(DIFFERENCE_STATES).prefault("open").describe("In these states, with commas between them."),
});
export type BaselineDifferencesQuery = z.infer<typeof BaselineDifferencesQuery>;

/** For whom a difference is right. A group is a tag: all devices that have it. */
const ACCEPT_FOR = ["device", "group", "site"] as const;

/** To say that a difference is right. */
export const BaselineAccept = z.strictObject({
  for: z.enum(ACCEPT_FOR).default("device").describe("For whom it is right: the device, every device with a tag, or every device of the site. A difference of the site itself takes `site`."),
  tag: Tag.optional().describe("The tag, for a group. The device must have it."),
  reason: Reason,
  expires_at: Instant.optional().describe("When it is no longer right. It has no end if left out."),
}).refine(({ for: whom, tag }) => (whom === "group") === (tag !== undefined), { path: ["tag"], message: "is for a group, and only for one" });
export type BaselineAccept = z.infer<typeof BaselineAccept>;

/** A difference that a user said is right. */
export const BaselineAcceptance = z.object({
  id: Id.describe("The acceptance's id."),
  site_id: Id.nullable().describe("The site where it holds. Null for a tag at all sites."),
  device_id: Id.nullable().describe("The device for which it holds. Null for others."),
  tag: z.string().nullable().describe("The tag for whose devices it holds. Null for others."),
  name: z.string().nullable().describe("Name or address of the device, or name of the site. Null for a tag at all sites."),
  kind, key,
  outcome: BaselineDifference.shape.outcome,
  observed: z.string().describe("The value that is right now. Empty for nothing: that it is gone is right."),
  reason: z.string().describe("Why it is right."),
  created_by: z.string().describe("Name of the user who accepted it."),
  created_at: Instant.describe("When it was accepted."),
  expires_at: Instant.nullable().describe("When it ends. Null for one without an end."),
});
export type BaselineAcceptance = z.infer<typeof BaselineAcceptance>;

const TemplateFact = z.strictObject({ kind: z.enum(["port", "service"]).describe("`port` or `service`: what devices of a group can share."), key, value });

/** Facts that all devices with a tag share. */
export const BaselineTemplate = z.object({
  id: Id.describe("The template's id."),
  name: z.string().describe("The template's name. It is unique."),
  site_id: Id.nullable().describe("The site for whose devices it counts. Null for all sites."),
  tag: z.string().describe("It counts for devices that have this tag."),
  facts: z.array(TemplateFact).describe("Ports and services that its devices are to have: neither new, nor missed where they are there."),
  created_by: z.string().describe("Name of the user who made it."),
  updated_at: Instant.describe("When it was changed last."),
});
export type BaselineTemplate = z.infer<typeof BaselineTemplate>;

/** A template from facts, or from a device that is as all of its group should be. */
export const BaselineTemplateCreate = z.strictObject({
  name: PlainText(64).min(1).describe("The template's name. No other template of the tenant has it."),
  site_id: Id.optional().describe("The site for whose devices it counts. All sites if left out."),
  tag: Tag.describe("It counts for devices that have this tag."),
  facts: z.array(TemplateFact).max(MAX_BASELINE_EDIT).optional().describe("Ports and services that its devices are to have."),
  from_device_id: Id.optional().describe("A device whose baseline has them, instead of `facts`."),
}).refine(({ facts, from_device_id: from }) => (facts === undefined) !== (from === undefined), "facts or from_device_id is needed, and not both");
export type BaselineTemplateCreate = z.infer<typeof BaselineTemplateCreate>;

/** Fields left out stay. */
export const BaselineTemplateUpdate = z.strictObject({
  name: PlainText(64).min(1).optional().describe("The template's name."),
  tag: Tag.optional().describe("It counts for devices that have this tag."),
  facts: z.array(TemplateFact).max(MAX_BASELINE_EDIT).optional().describe("In place of those that it has."),
});
export type BaselineTemplateUpdate = z.infer<typeof BaselineTemplateUpdate>;

/** `hold`: what still differs is reported when the window is over. `learn`: it becomes part of the baseline. */
const WINDOW_EFFECTS = ["hold", "learn"] as const;

const windowFields = {
  site_id: Id.describe("The site."),
  begins_at: Instant.describe("When it begins."),
  ends_at: Instant.describe("When it ends."),
  effect: z.enum(WINDOW_EFFECTS).describe("`hold`: what still differs is reported when it is over. `learn`: what differs in it becomes part of the baseline."),
};

/** A time in which differences are not reported. */
export const BaselineWindow = z.object({
  id: Id.describe("The window's id."), ...windowFields,
  device_id: Id.nullable().describe("The device for which it is. Null for others."),
  tag: z.string().nullable().describe("The tag for whose devices it is. Null for others: without either it is for the whole site."),
  name: z.string().describe("Name or address of the device, or name of the site."),
  reason: z.string().describe("What is done in it."),
  created_by: z.string().describe("Name of the user who made it."),
  created_at: Instant.describe("When it was made."),
});
export type BaselineWindow = z.infer<typeof BaselineWindow>;

/** For the whole site, unless a device or a tag is named. */
export const BaselineWindowCreate = z.strictObject({
  ...windowFields, effect: windowFields.effect.default("hold"),
  device_id: Id.optional().describe("The device for which it is."),
  tag: Tag.optional().describe("The tag for whose devices it is."),
  reason: Reason,
}).refine(({ begins_at: from, ends_at: until }) => from < until, { path: ["ends_at"], message: "must be after begins_at" })
  .refine(({ device_id: device, tag }) => device === undefined || tag === undefined, { path: ["tag"], message: "device_id or tag, not both" });
export type BaselineWindowCreate = z.infer<typeof BaselineWindowCreate>;

/** Which windows, acceptances and templates to list. */
export const BaselineSettingsQuery = IdPageQuery.extend({ site_id: Id.optional().describe("Those that count at this site, with those for all sites.") });
export type BaselineSettingsQuery = z.infer<typeof BaselineSettingsQuery>;
