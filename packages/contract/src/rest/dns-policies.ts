import * as z from "zod";
import { DNS_ANSWERS } from "../uplink/dns/bundle.ts";
import { Id, Instant } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";

const Tag = z.string().trim().min(1).max(64);
const Vlan = z.int().min(1).max(4094);

/** For whom something holds: one device, devices with a tag, a VLAN of a site, a site, or everyone where all are left out. */
const Wish = {
  device_id: Id.optional().describe("Only this device."),
  group: Tag.optional().describe("Only devices with this tag."),
  site_id: Id.optional().describe("Only this site."),
  vlan: Vlan.optional().describe("Only this VLAN of the site."),
};

/** As a record shows it. */
const Scope = {
  device_id: Id.nullable().describe("The one device. Null for others."),
  group: z.string().nullable().describe("The tag that devices must have. Null for others."),
  site_id: Id.nullable().describe("The site. Null for all."),
  vlan: z.int().nullable().describe("The VLAN of the site. Null for all."),
};

interface ScopeWish {
  readonly device_id?: string | undefined;
  readonly group?: string | undefined;
  readonly site_id?: string | undefined;
  readonly vlan?: number | undefined;
}

const SCOPE_RULE = "device_id, group and site_id exclude each other, and vlan needs site_id";
const isOneScope = ({ device_id: device, group, site_id: site, vlan }: ScopeWish) =>
  [device, group, site].filter((one) => one !== undefined).length <= 1 && (vlan === undefined || site !== undefined);

/** Days as schedules write them; the first is 0. */
export const DNS_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const ClockTime = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, "a time of day as 08:00, at most 24:00");

const DnsSchedule = z.strictObject({
  time_zone: z.string().regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/).default("UTC").describe("Time zone as the IANA names it, as `Europe/Berlin`."),
  spans: z.array(z.strictObject({
    days: z.array(z.enum(DNS_DAYS)).min(1).max(7).describe("Days on which the span begins."),
    from: ClockTime.describe("When it begins, as `08:00`."),
    to: ClockTime.describe("When it ends, as `17:30`. Not later than `from`: on the next day."),
  })).min(1).max(50).describe("It holds in any of them."),
});

/** Which lists a policy uses: one, or all of a category. The list's own entry wins over that of its category. */
const DnsListChoice = z.strictObject({
  list_id: Id.optional().describe("This list."),
  category: z.string().trim().min(1).max(64).optional().describe("All lists of this category."),
  mode: z.enum(["enforce", "observe"]).default("enforce").describe("`observe`: it is said what the list would have done, and nothing is blocked."),
  schedule: DnsSchedule.nullable().default(null).describe("When it is used. Null: always."),
}).refine(({ list_id: list, category }) => (list === undefined) !== (category === undefined), "exactly one of list_id and category is needed");

const Fields = {
  name: z.string().trim().min(1).max(100).describe("Its name, for people."),
  mode: z.enum(["enforce", "observe"]).describe("`observe`: names resolve, and it is said what would have been blocked."),
  answer: z.enum(DNS_ANSWERS).describe("How a blocked name is answered: as one that does not exist, with 0.0.0.0 and ::, without records, with REFUSED, or with the sinkhole's addresses."),
  sinkhole_ipv4: z.ipv4().nullable().describe("IPv4 address of `sinkhole`. Null for none."),
  sinkhole_ipv6: z.ipv6().nullable().describe("IPv6 address of `sinkhole`. Null for none."),
  private_relay: z.enum(["allow", "block"]).describe("Whether iCloud Private Relay, which takes names past the resolver, is offered."),
  browser_dns: z.enum(["allow", "block"]).describe("Whether browsers may use a resolver of their own, as far as they ask (`use-application-dns.net`)."),
  lists: z.array(DnsListChoice).max(100).nullable().describe("The lists that it uses. Null: all, always."),
};

/** What is done for some clients. Of several policies that of the most specific scope counts alone: device, group, VLAN, site, everyone. */
export const DnsPolicy = z.object({ id: Id.describe("The policy's id."), ...Scope, ...Fields, created_by: z.string().describe("Name of the user who made it."), created_at: Instant.describe("When it was made.") });
export type DnsPolicy = z.infer<typeof DnsPolicy>;

/** Whom it is for cannot be changed later. */
export const DnsPolicyCreate = z.strictObject({
  name: Fields.name, ...Wish, mode: Fields.mode.default("enforce"), answer: Fields.answer.default("nxdomain"), sinkhole_ipv4: Fields.sinkhole_ipv4.default(null),
  sinkhole_ipv6: Fields.sinkhole_ipv6.default(null), private_relay: Fields.private_relay.default("allow"), browser_dns: Fields.browser_dns.default("allow"), lists: Fields.lists.default(null),
}).refine(isOneScope, SCOPE_RULE);
export type DnsPolicyCreate = z.infer<typeof DnsPolicyCreate>;

/** Fields left out stay. */
export const DnsPolicyUpdate = z.strictObject(z.object(Fields).partial().shape);
export type DnsPolicyUpdate = z.infer<typeof DnsPolicyUpdate>;

const Name = z.string().trim().min(1).max(254).describe("The name, as `shop.example`.").meta({ examples: ["shop.example"] });
const Reason = z.string().trim().max(255).default("").describe("Why, for later readers.");
const Made = { reason: z.string().describe("Why it was made. Empty for no reason."), created_by: z.string().describe("Name of the user who made it."), created_at: Instant.describe("When it was made.") };
const Subdomains = z.boolean().describe("Whether it is also for the names below it.");

/** A name that is blocked, allowed or protected by hand, for good. */
export const DnsRule = z.object({
  id: Id.describe("The rule's id."), ...Scope, name: Name,
  action: z.enum(["block", "allow", "protect"]).describe("`block`: as a list of its own would. `allow`: no list blocks it. `protect`: a version of a list that would block it, or a name above it, is held back."),
  has_subdomains: Subdomains, ...Made,
});
export type DnsRule = z.infer<typeof DnsRule>;

/** `block` and `protect` are for everyone or a site. */
export const DnsRuleCreate = z.strictObject({
  ...Wish, name: Name, action: DnsRule.shape.action, has_subdomains: Subdomains.default(true), reason: Reason,
}).refine(isOneScope, SCOPE_RULE)
  .refine(({ action, device_id: device, group, vlan }) => action === "allow" || [device, group, vlan].every((one) => one === undefined), "block and protect are for everyone or a site")
  .refine(({ action, site_id: site }) => action !== "protect" || site === undefined, "protect is for all sites");
export type DnsRuleCreate = z.infer<typeof DnsRuleCreate>;

/** A name that no list blocks for a while. */
export const DnsAllowance = z.object({
  id: Id.describe("The allowance's id."), ...Scope, name: Name.describe("The name that is allowed: the one that lists block, which need not be the one that was asked for."),
  has_subdomains: Subdomains, expires_at: Instant.describe("When it ends."), ...Made,
});
export type DnsAllowance = z.infer<typeof DnsAllowance>;

/** With the chain of the answer, the name is found that must be allowed. */
export const DnsAllowanceCreate = z.strictObject({
  ...Wish, name: Name.describe("The name that does not resolve."),
  cname: z.array(Name).max(16).optional().describe("Names that stand behind it in the answer (CNAME), in their order. Where one of these is what lists block, that one is allowed."),
  has_subdomains: Subdomains.default(true), expires_at: Instant.optional().describe("When it ends. In an hour if left out."), reason: Reason,
}).refine(isOneScope, SCOPE_RULE);
export type DnsAllowanceCreate = z.infer<typeof DnsAllowanceCreate>;

/** Nothing is blocked for a while. */
export const DnsPause = z.object({ id: Id.describe("The pause's id."), ...Scope, expires_at: Instant.describe("When it ends."), ...Made });
export type DnsPause = z.infer<typeof DnsPause>;

/** For everyone, where no scope is given. */
export const DnsPauseCreate = z.strictObject({ ...Wish, expires_at: Instant.optional().describe("When it ends. In ten minutes if left out."), reason: Reason }).refine(isOneScope, SCOPE_RULE);
export type DnsPauseCreate = z.infer<typeof DnsPauseCreate>;

/** Rules, by what they do. */
export const DnsRulesQuery = IdPageQuery.extend({ action: DnsRule.shape.action.optional().describe("Only of this action.") });

/** Whose question is judged. */
export const DnsCheckQuery = z.object({
  name: Name.describe("The name that is asked for."),
  type: z.coerce.number().int().min(1).max(65_535).default(1).describe("The type that is asked for: 1 is A, 28 is AAAA."),
  device_id: Id.optional().describe("As for this device."),
  site_id: Id.optional().describe("As at this site. The device's if left out; the tenant's only one where there is no device."),
  cname: z.string().max(2048).optional().describe("Names that stand behind it in the answer, with commas between them."),
});
export type DnsCheckQuery = z.infer<typeof DnsCheckQuery>;

/** A list's rule that holds for the question. */
const Matched = z.object({
  list_id: z.string().describe("The list; `rules` is what was blocked by hand."),
  list: z.string().describe("Its name."),
  category: z.string().describe("What its names are."),
  rule: z.string().describe("The rule's own name or network."),
  record: z.string().describe("What it was compared with: a name of the question or its chain, or an address."),
  section: z.string().describe("Where that stands: `question`, `client`, `cname`, `svcb`, `address` or `name-server`."),
  effect: z.string().describe("What the rule does, as `block` or `allow`."),
  is_observed: z.boolean().describe("Whether it is only observed."),
  first_seen: z.iso.date().describe("Day on which the list had it first."),
});

/** What a site's resolver does with a question, and why. */
export const DnsCheck = z.object({
  name: z.string().describe("The name that is asked for."),
  site_id: Id.describe("The site."),
  device_id: Id.nullable().describe("The device. Null for a client that is not known."),
  action: z.enum(["allow", "block", "rewrite", "drop", "truncate"]).describe("What is done."),
  reason: z.enum(["no-match", "no-policy", "paused", "allowance", "exception", "rule", "private-relay", "browser-dns"]).describe("Why it is so."),
  answer: z.string().nullable().describe("How it is answered, as `nxdomain`. Null where the truth is answered."),
  extended_error: z.string().nullable().describe("What the client reads in the extended error (RFC 8914). Null for none."),
  policy_id: z.string().nullable().describe("The policy that counts. Null for none."),
  policy: z.string().nullable().describe("Its name. Null for none."),
  rule: Matched.nullable().describe("The rule that decided, also where it is an exception. Null for none."),
  observed: Matched.nullable().describe("The rule that would have blocked, were it not only observed. Null for none."),
  matches: z.array(Matched).describe("All rules that hold, of all lists of the policy."),
  allow_name: z.string().nullable().describe("The name that must be allowed for it to resolve. Null where none would help."),
  steps: z.array(z.object({ step: z.string().describe("What was looked at, as `policy`."), record: z.string().nullable().describe("What was compared. Null for nothing."), text: z.string().describe("What came of it.") }))
    .describe("The reasoning, in its order."),
});
export type DnsCheck = z.infer<typeof DnsCheck>;

/** What the probes of a site are offered. */
export const DnsSite = z.object({
  site_id: Id.describe("The site."),
  version: z.int().describe("Version of the bundle that its probes are offered."),
  rules: z.int().describe("Rules of lists in it."),
  bytes: z.int().describe("Its size, in bytes."),
  error: z.string().nullable().describe("Why the newest lists could not be made into a bundle. Null where nothing is wrong."),
  built_at: Instant.describe("When it was made."),
});
export type DnsSite = z.infer<typeof DnsSite>;
