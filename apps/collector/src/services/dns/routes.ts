import { dnsOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { notFound } from "../../gateway/errors.ts";
import { pageOfAll, toAnswer } from "../../gateway/page.ts";
import { missing } from "../../gateway/route.ts";
import type { SiteBundlesStore } from "./bundles/store.ts";
import type { CheckService } from "./check.ts";
import type { ListsService } from "./lists/service.ts";
import type { VersionsService } from "./lists/versions.ts";
import type { DecisionsService } from "./policies/decisions.ts";
import type { PoliciesService } from "./policies/policies.ts";
import type { QueriesService } from "./queries/service.ts";
import type { QuerySettingsService } from "./queries/settings.ts";

/** What the routes of the filtering resolver use. */
export interface DnsServices {
  readonly lists: ListsService;
  readonly versions: VersionsService;
  readonly policies: PoliciesService;
  readonly decisions: DecisionsService;
  readonly check: CheckService;
  readonly bundles: Pick<SiteBundlesStore, "all">;
  readonly queries: QueriesService;
  readonly querySettings: QuerySettingsService;
}

const { endpoint, routes } = endpointsOf<DnsServices>();

/** `/dns/lists` and what is below it. */
export const listsRoutes = routes(
  endpoint("sensors:read", dnsOperations.listDnsLists, {
    summary: "List block lists", answer: "Lists, the oldest first",
  }, async (c, { lists }) => c.json(toAnswer(await lists.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:write", dnsOperations.createDnsList, {
    summary: "Add a block list",
    description: "Names in any of the formats hosts, domains, wildcard, adblock, dnsmasq and RPZ. Those of a `url` are downloaded at once, and then every `interval_hours`: https at public addresses, other hosts where the "
    + "configuration of feeds names them. A new version becomes active by itself, unless it shrinks by half, or blocks public suffixes or protected names: then the one before stays. What a list does is "
    + "decided by policies: with the tenant's first list, where there is no policy, one for everyone is made that only observes. A tenant has at most 50.",
    example: { name: "Advertising", category: "advertising", url: "https://lists.example.org/advertising.txt" }, answer: "The list",
  }, async (c, { lists }) => {
    const made = await lists.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/dns/lists/${made.id}` });
  }),
  endpoint("sensors:read", dnsOperations.readDnsList, {
    summary: "Read a block list", answer: "The list",
  }, async (c, { lists }) => c.json(await lists.read(identityOf(c).tenantId, c.req.valid("param").dns_list_id), 200)),
  endpoint("sensors:write", dnsOperations.updateDnsList, {
    summary: "Change a block list", description: "Fields left out stay. With `names`, a list of the kind `local` gets a version of its own. Another format counts from the next version on.",
    example: { interval_hours: 12, automatic: false }, answer: "The list",
  }, async (c, { lists }) => c.json(await lists.update(actorOf(c), c.req.valid("param").dns_list_id, c.req.valid("json")), 200)),
  endpoint("sensors:write", dnsOperations.deleteDnsList, {
    summary: "Delete a block list", description: "With all its versions. Its names resolve again.", answer: "Deleted",
  }, async (c, { lists }) => {
    await lists.remove(actorOf(c), c.req.valid("param").dns_list_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:write", dnsOperations.fetchDnsList, {
    summary: "Have a block list updated now", description: "What has not changed is not downloaded again. `checked_at` and `error` say what came of it.", answer: "The list, which is asked for soon",
  }, async (c, { lists }) => c.json(await lists.fetchNow(actorOf(c), c.req.valid("param").dns_list_id), 202)),
  endpoint("sensors:write", dnsOperations.rollBackDnsList, {
    summary: "Go back to the version before of a block list", description: "The version that was active before becomes active again. Probes get it as a new version of their bundle.", answer: "The list",
  }, async (c, { versions }) => c.json(await versions.activate(actorOf(c), c.req.valid("param").dns_list_id, null), 200)),
  endpoint("sensors:read", dnsOperations.listDnsListVersions, {
    summary: "List the versions of a block list", description: "Those that are kept: the active one and the newest, three in all.", answer: "Versions, the newest first",
  }, async (c, { versions }) => c.json(toAnswer(await versions.versions(identityOf(c).tenantId, c.req.valid("param").dns_list_id)), 200)),
  endpoint("sensors:write", dnsOperations.activateDnsListVersion, {
    summary: "Activate a version of a block list", description: "Also one that was held back, and an older one. The sites' probes get it within a minute.", answer: "The list",
  }, async (c, { versions }) => {
    const { dns_list_id: id, dns_list_version: version } = c.req.valid("param");
    return c.json(await versions.activate(actorOf(c), id, numberOf(version, "version")), 200);
  }),
);

/** `/dns/policies` and `/dns/rules`. */
export const policiesRoutes = routes(
  endpoint("sensors:read", dnsOperations.listDnsPolicies, {
    summary: "List DNS policies", answer: "Policies, the oldest first",
  }, async (c, { policies }) => c.json(toAnswer(await policies.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.readDnsPolicy, {
    summary: "Read a DNS policy", answer: "The policy",
  }, async (c, { policies }) => c.json(await policies.read(identityOf(c).tenantId, c.req.valid("param").dns_policy_id), 200)),
  endpoint("sensors:write", dnsOperations.createDnsPolicy, {
    summary: "Add a DNS policy",
    description: "What is done with the names of lists, for one device, devices with a tag, a VLAN of a site, a site, or everyone. Of several policies that could count for a client, the one with the most specific scope counts "
    + "alone, in that order. Without a policy nothing is blocked but by rules. A tenant has at most 200.",
    example: { name: "Children", group: "children", mode: "enforce", private_relay: "block", lists: [{ category: "adult" }, { category: "games", schedule: { time_zone: "Europe/Berlin", spans: [{ days: ["mon", "tue"], from: "08:00", to: "16:00" }] } }] },
    answer: "The policy",
  }, async (c, { policies }) => {
    const made = await policies.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/dns/policies/${made.id}` });
  }),
  endpoint("sensors:write", dnsOperations.updateDnsPolicy, {
    summary: "Change a DNS policy", description: "Fields left out stay. Whom it is for stays, too.", example: { mode: "observe" }, answer: "The policy",
  }, async (c, { policies }) => c.json(await policies.update(actorOf(c), c.req.valid("param").dns_policy_id, c.req.valid("json")), 200)),
  endpoint("sensors:write", dnsOperations.deleteDnsPolicy, {
    summary: "Delete a DNS policy", description: "Its clients have the next policy that is for them.", answer: "Deleted",
  }, async (c, { policies }) => {
    await policies.remove(actorOf(c), c.req.valid("param").dns_policy_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", dnsOperations.listDnsRules, {
    summary: "List DNS rules", answer: "Names that are blocked, allowed or protected by hand, the oldest first",
  }, async (c, { decisions }) => c.json(toAnswer(await decisions.rules.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.readDnsRule, {
    summary: "Read a DNS rule", answer: "The rule",
  }, async (c, { decisions }) => c.json(await decisions.rules.read(identityOf(c).tenantId, c.req.valid("param").dns_rule_id), 200)),
  endpoint("sensors:write", dnsOperations.createDnsRule, {
    summary: "Block, allow or protect a name", description: "For good, until the rule is deleted. An `allow` beats every list. A tenant has at most 5000 rules, allowances and pauses.",
    example: { name: "tracker.example", action: "block", reason: "case 2026-117" }, answer: "The rule",
  }, async (c, { decisions }) => {
    const made = await decisions.rules.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/dns/rules/${made.id}` });
  }),
  endpoint("sensors:write", dnsOperations.deleteDnsRule, {
    summary: "Delete a DNS rule", answer: "Deleted: lists and policies count as before",
  }, async (c, { decisions }) => {
    await decisions.rules.remove(actorOf(c), c.req.valid("param").dns_rule_id);
    return c.body(null, 204);
  }),
);

/** `/dns/allow`, `/dns/pause`, `/dns/check` and `/dns/sites`. */
export const dnsRoutes = routes(
  endpoint("sensors:read", dnsOperations.listDnsAllowances, {
    summary: "List names that are allowed for a while", answer: "Allowances that have not ended, the oldest first",
  }, async (c, { decisions }) => c.json(toAnswer(await decisions.allowances.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.readDnsAllowance, {
    summary: "Read an allowance", answer: "The allowance",
  }, async (c, { decisions }) => c.json(await decisions.allowances.read(identityOf(c).tenantId, c.req.valid("param").dns_allowance_id), 200)),
  endpoint("sensors:write", dnsOperations.createDnsAllowance, {
    summary: "Allow a name for a while", description: "For an hour where no end is given; resolvers have it within seconds. What is allowed is the name that lists block: with `cname` it may be one that stands behind the one that was asked for.",
    example: { name: "shop.example", cname: ["x.ads.example"], expires_at: "2026-12-31T00:00:00.000Z", reason: "the order form needs it" }, answer: "The allowance",
  }, async (c, { decisions }) => {
    const made = await decisions.allowances.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/dns/allow/${made.id}` });
  }),
  endpoint("sensors:write", dnsOperations.deleteDnsAllowance, {
    summary: "End an allowance", answer: "Ended: lists count as before",
  }, async (c, { decisions }) => {
    await decisions.allowances.remove(actorOf(c), c.req.valid("param").dns_allowance_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", dnsOperations.listDnsPauses, {
    summary: "List pauses of DNS filtering", answer: "Pauses that have not ended, the oldest first",
  }, async (c, { decisions }) => c.json(toAnswer(await decisions.pauses.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.readDnsPause, {
    summary: "Read a pause of DNS filtering", answer: "The pause",
  }, async (c, { decisions }) => c.json(await decisions.pauses.read(identityOf(c).tenantId, c.req.valid("param").dns_pause_id), 200)),
  endpoint("sensors:write", dnsOperations.createDnsPause, {
    summary: "Pause DNS filtering", description: "Nothing is blocked for ten minutes, or until the given end; resolvers have it within seconds.",
    example: { expires_at: "2026-12-31T00:00:00.000Z", reason: "is it the filter?" }, answer: "The pause",
  }, async (c, { decisions }) => {
    const made = await decisions.pauses.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/dns/pause/${made.id}` });
  }),
  endpoint("sensors:write", dnsOperations.deleteDnsPause, {
    summary: "End a pause of DNS filtering", answer: "Ended: names are filtered again",
  }, async (c, { decisions }) => {
    await decisions.pauses.remove(actorOf(c), c.req.valid("param").dns_pause_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", dnsOperations.checkDnsName, {
    summary: "Check what is done with a name", description: "As the resolvers of a site judge it now, for a device or a client that is not known, with the whole reasoning. Nobody is asked for the name: names behind it (CNAME) are those of `cname`.",
    answer: "The verdict, and why", also: missing("No such site or device"),
  }, async (c, { check }) => c.json(await check.check(identityOf(c).tenantId, c.req.valid("query")), 200)),
  endpoint("sensors:read", dnsOperations.listDnsSites, {
    summary: "List what sites were given to filter by", description: "Whether a probe uses it, it reports in `health.bundles`.", answer: "What each site was given last",
  }, async (c, { bundles }) => {
    const rows = (await bundles.all()).filter(({ tenant_id: id }) => id === identityOf(c).tenantId);
    const shown = rows.map(({ site_id, version, rules, bytes, error, built_at }) => ({ site_id, version, rules, bytes, error, built_at }));
    return c.json(toAnswer(pageOfAll(shown, c.req.valid("query"), ({ site_id: id }) => id)), 200);
  }),
);

/** `/dns/queries` and `/dns/stats`. */
export const queriesRoutes = routes(
  endpoint("sensors:read", dnsOperations.listDnsQueries, {
    summary: "List what clients asked of resolvers",
    description: "Queries of a client that are alike, counted by the hour. Who asked for which names is there only as far as a site's resolver reports it: `report` in `[queries]` of its `dns.toml` and the site's setting (`/dns/queries/settings`) say how much, "
    + "and the stricter one holds: `off`, `counts` (the default: numbers alone), `blocked` (names that lists have) or `all`. The collector keeps it for `keep_query_days` (7), or as the site's setting says for less, at most 20,000 rows an hour and 200,000 of a site; what is more is counted as `left_out` in `/dns/stats`.",
    answer: "Rows, the newest first", also: missing("No such site"),
  }, async (c, { queries }) => c.json(toAnswer(await queries.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.listDnsQuerySettings, {
    summary: "List how much of what clients ask is reported and kept", answer: "A setting for each site",
  }, async (c, { querySettings }) => c.json(toAnswer(await querySettings.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", dnsOperations.readDnsQuerySettings, {
    summary: "Read how much of what a site's clients ask is reported and kept", answer: "The setting",
  }, async (c, { querySettings }) => c.json(await querySettings.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("sensors:write", dnsOperations.updateDnsQuerySettings, {
    summary: "Change how much of what a site's clients ask is reported and kept",
    description: "Fields left out stay. The level reaches the site's resolvers within a minute. It cannot make one report more than its own `dns.toml` allows: of both the stricter one holds. What a probe still reports beyond it is not kept. "
    + "What is there already goes when its days are over: with a shorter `keep_days`, within an hour.",
    example: { level: "counts", keep_days: 3 }, answer: "The setting",
  }, async (c, { querySettings }) => c.json(await querySettings.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("sensors:read", dnsOperations.readDnsStats, {
    summary: "Read how much was asked of resolvers", description: "In whole hours of up to 7 days, with the names, clients and lists that were there most, as far as they are reported.", answer: "Numbers", also: missing("No such site"),
  }, async (c, { queries }) => c.json(await queries.stats(identityOf(c).tenantId, c.req.valid("query")), 200)),
);

/** What is no number names nothing that is there. */
function numberOf(text: string, what: string): number {
  if (!/^\d{1,10}$/.test(text)) throw notFound(what);
  return Number(text);
}
