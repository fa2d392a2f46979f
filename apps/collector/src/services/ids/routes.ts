import { idsOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { notFound } from "../../gateway/errors.ts";
import { toAnswer } from "../../gateway/page.ts";
import { missing } from "../../gateway/route.ts";
import type { NetworksService } from "./networks/service.ts";
import type { OverridesService } from "./noise/overrides.ts";
import type { StatsService } from "./noise/stats.ts";
import type { SuppressionsService } from "./noise/suppressions.ts";
import type { RulesService } from "./rules-service.ts";
import type { RulesetsService } from "./rulesets/service.ts";
import type { VersionsService } from "./rulesets/versions.ts";
import type { SupportService } from "./support.ts";
import type { TrialsService } from "./trials/service.ts";

/** What the routes of intrusion detection use. */
export interface IdsServices {
  readonly rulesets: RulesetsService;
  readonly versions: VersionsService;
  readonly rules: RulesService;
  readonly overrides: OverridesService;
  readonly suppressions: SuppressionsService;
  readonly stats: StatsService;
  readonly support: SupportService;
  readonly trials: TrialsService;
  readonly networks: NetworksService;
}

const { endpoint, routes } = endpointsOf<IdsServices>();

/** `/ids/rulesets` and what is below it. */
export const rulesetsRoutes = routes(
  endpoint("sensors:read", idsOperations.listIdsRulesets, {
    summary: "List rule sets", answer: "Rule sets, the oldest first",
  }, async (c, { rulesets }) => c.json(toAnswer(await rulesets.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:write", idsOperations.createIdsRuleset, {
    summary: "Add a rule set",
    description: "Rules in Suricata's language. Those of a `url` are downloaded at once, and then every `interval_hours`: https at public addresses, other hosts where the configuration of feeds "
    + "names them. A rule that cannot be run is refused alone. A new version becomes active by itself, unless it has less than half of the rules of the one before. With the tenant's first "
    + "rule set, the categories ET INFO and ET POLICY are switched off by overrides. A tenant has at most 20.",
    example: { name: "Emerging Threats open", url: "https://rules.example.org/open/suricata-7.0/emerging.rules.tar.gz", checksum_url: "https://rules.example.org/open/suricata-7.0/emerging.rules.tar.gz.md5" },
    answer: "The rule set",
  }, async (c, { rulesets }) => {
    const made = await rulesets.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/ids/rulesets/${made.id}` });
  }),
  endpoint("sensors:read", idsOperations.readIdsRuleset, {
    summary: "Read a rule set", answer: "The rule set",
  }, async (c, { rulesets }) => c.json(await rulesets.read(identityOf(c).tenantId, c.req.valid("param").ruleset_id), 200)),
  endpoint("sensors:write", idsOperations.updateIdsRuleset, {
    summary: "Change a rule set", description: "Fields left out stay. With `rules`, a rule set of the kind `local` gets a version of its own.",
    example: { interval_hours: 12, automatic: false }, answer: "The rule set",
  }, async (c, { rulesets }) => c.json(await rulesets.update(actorOf(c), c.req.valid("param").ruleset_id, c.req.valid("json")), 200)),
  endpoint("sensors:write", idsOperations.deleteIdsRuleset, {
    summary: "Delete a rule set", description: "With all its versions. Probes stop to use its rules.", answer: "Deleted",
  }, async (c, { rulesets }) => {
    await rulesets.remove(actorOf(c), c.req.valid("param").ruleset_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:write", idsOperations.fetchIdsRuleset, {
    summary: "Have a rule set updated now", description: "What has not changed is not downloaded again. `checked_at` and `error` say what came of it.", answer: "The rule set, which is asked for soon",
  }, async (c, { rulesets }) => c.json(await rulesets.fetchNow(actorOf(c), c.req.valid("param").ruleset_id), 202)),
  endpoint("sensors:write", idsOperations.rollBackIdsRuleset, {
    summary: "Go back to the version before", description: "The version that was active before becomes active again. Probes get it as a new version of their bundle.", answer: "The rule set",
  }, async (c, { versions }) => c.json(await versions.activate(actorOf(c), c.req.valid("param").ruleset_id, null), 200)),
  endpoint("sensors:read", idsOperations.listIdsRulesetVersions, {
    summary: "List the versions of a rule set", description: "Those that are kept: the active one and the newest, five in all.", answer: "Versions, the newest first",
  }, async (c, { versions }) => c.json(toAnswer(await versions.versions(identityOf(c).tenantId, c.req.valid("param").ruleset_id)), 200)),
  endpoint("sensors:read", idsOperations.diffIdsRulesetVersion, {
    summary: "Compare a version of a rule set", description: "With the active version, or another one. At most 20,000 differences are listed.", answer: "Rules that differ, by number",
  }, async (c, { versions }) => {
    const { ruleset_id: id, ruleset_version: version } = c.req.valid("param");
    return c.json(toAnswer(await versions.diff(identityOf(c).tenantId, id, numberOf(version, "version"), c.req.valid("query"))), 200);
  }),
  endpoint("sensors:write", idsOperations.activateIdsRulesetVersion, {
    summary: "Activate a version of a rule set", description: "Also one that was held back, and an older one. The site's probes get it within a minute.", answer: "The rule set",
  }, async (c, { versions }) => {
    const { ruleset_id: id, ruleset_version: version } = c.req.valid("param");
    return c.json(await versions.activate(actorOf(c), id, numberOf(version, "version")), 200);
  }),
);

/** `/ids/rules`, `/ids/overrides`, `/ids/suppressions`, `/ids/support`, `/ids/stats`, `/ids/networks` and `/ids/test`. */
export const idsRoutes = routes(
  endpoint("sensors:read", idsOperations.listIdsRules, {
    summary: "Search rules", description: "Of the active versions of all rule sets, by rule set and in the order of their files.", answer: "Rules as they count",
  }, async (c, { rules }) => c.json(toAnswer(await rules.search(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", idsOperations.readIdsRule, {
    summary: "Read a rule", description: "Of several rule sets that have it, the one with the highest revision.", answer: "The rule",
  }, async (c, { rules }) => {
    const { site_id: siteId, generator_id: gid } = c.req.valid("query");
    return c.json(await rules.read(identityOf(c).tenantId, { gid, sid: numberOf(c.req.valid("param").signature_id, "rule"), siteId }), 200);
  }),
  endpoint("sensors:read", idsOperations.listIdsOverrides, {
    summary: "List overrides of rules", answer: "Overrides, the oldest first",
  }, async (c, { overrides }) => c.json(toAnswer(await overrides.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", idsOperations.readIdsOverride, {
    summary: "Read an override", answer: "The override",
  }, async (c, { overrides }) => c.json(await overrides.read(identityOf(c).tenantId, c.req.valid("param").override_id), 200)),
  endpoint("sensors:write", idsOperations.createIdsOverride, {
    summary: "Enable, disable or change rules",
    description: "Of a number, a category or metadata, now and in later versions. One of a number wins over one of metadata, that over one of a category; one of a site over one of all sites; the "
    + "newer over the older. A rule that cannot follow a change stays as it was published, and `GET /ids/support` says so. A tenant has at most 1000.",
    example: { kind: "category", value: "ET INFO", state: "enabled", reason: "we look into all of them" }, answer: "The override",
  }, async (c, { overrides }) => {
    const made = await overrides.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/ids/overrides/${made.id}` });
  }),
  endpoint("sensors:write", idsOperations.deleteIdsOverride, {
    summary: "Delete an override", answer: "Deleted: the rules count as before",
  }, async (c, { overrides }) => {
    await overrides.remove(actorOf(c), c.req.valid("param").override_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", idsOperations.listIdsSuppressions, {
    summary: "List suppressions of intrusion alerts", answer: "Suppressions that have not expired, the oldest first",
  }, async (c, { suppressions }) => c.json(toAnswer(await suppressions.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", idsOperations.readIdsSuppression, {
    summary: "Read a suppression of intrusion alerts", answer: "The suppression",
  }, async (c, { suppressions }) => c.json(await suppressions.read(identityOf(c).tenantId, c.req.valid("param").ids_suppression_id), 200)),
  endpoint("sensors:write", idsOperations.createIdsSuppression, {
    summary: "Suppress intrusion alerts",
    description: "What every given part fits raises no alert and calls no webhook; it is counted, and what reaches the collector stays in the log. Probes get suppressions with their rules. "
    + "An alert that is open stays open. A tenant has at most 1000.",
    example: { signature_id: 2_010_935, source: "192.0.2.0/24", reason: "the vulnerability scanner", expires_at: "2026-12-31T00:00:00.000Z" }, answer: "The suppression",
  }, async (c, { suppressions }) => {
    const made = await suppressions.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/ids/suppressions/${made.id}` });
  }),
  endpoint("sensors:write", idsOperations.deleteIdsSuppression, {
    summary: "End a suppression of intrusion alerts", answer: "Ended: what it hid is reported again",
  }, async (c, { suppressions }) => {
    await suppressions.remove(actorOf(c), c.req.valid("param").ids_suppression_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", idsOperations.readIdsSupport, {
    summary: "Read which rules are loaded and refused",
    description: "Of each rule set, which rules cannot be run and why; of each site, what its probes are offered; of each probe, what it has loaded.", answer: "What is loaded and what is refused",
  }, async (c, { support }) => c.json(await support.read(identityOf(c).tenantId, c.req.valid("query").site_id), 200)),
  endpoint("sensors:read", idsOperations.readIdsStats, {
    summary: "Read what intrusion rules match most", description: "How often signatures matched, and what might be suppressed: most of all in the first week.", answer: "The counts",
  }, async (c, { stats }) => c.json(await stats.read(identityOf(c).tenantId, c.req.valid("query")), 200)),
  endpoint("sensors:read", idsOperations.readIdsSiteNetworks, {
    summary: "Read which networks rules take for a site's own", description: "What `$HOME_NET` is in rules; `$EXTERNAL_NET` is all else.", answer: "The networks",
  }, async (c, { networks }) => c.json(await networks.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("sensors:write", idsOperations.updateIdsSiteNetworks, {
    summary: "Change which networks rules take for a site's own", description: "The site's probes get them with their rules, within a minute. Null: by the address plan, or as the probes know it.",
    example: { home_networks: ["192.0.2.0/24", "2001:db8::/32"] }, answer: "The networks",
  }, async (c, { networks }) => c.json(await networks.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("sensors:write", idsOperations.testIdsRule, {
    summary: "Test a rule on a capture",
    description: "Whether the rule matches, and where; or which part of it does not. Nothing is changed and no alert is raised. A test reads at most 32 MiB of a capture, for 10 seconds: `problem` says where it "
    + "stopped. A tenant has one test at a time (429). A stored capture that lies at its probe is sent for and answered 503: ask again after `Retry-After`.",
    example: { signature_id: 2_010_935, pcap_id: "01939f6e-2a10-7c3e-8f00-000000000004", reason: "case 2026-117" }, answer: "What the capture says of the rule",
    also: missing("No such rule, capture or site"),
  }, async (c, { trials }) => c.json(await trials.test(actorOf(c), identityOf(c).scopes, c.req.valid("json")), 200)),
);

/** What is no number names nothing that is there. */
function numberOf(text: string, what: string): number {
  if (!/^\d{1,10}$/.test(text)) throw notFound(what);
  return Number(text);
}
