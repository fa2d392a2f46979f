import * as z from "zod";
import { Id } from "../../values.ts";
import { DnsQueriesQuery, DnsQueryRow, DnsQuerySettings, DnsQuerySettingsUpdate, DnsStats, DnsStatsQuery } from "../dns-queries.ts";
import { DnsList, DnsListCreate, DnsListUpdate, DnsListVersion } from "../dns.ts";
import {
  DnsAllowance, DnsAllowanceCreate, DnsCheck, DnsCheckQuery, DnsPause, DnsPauseCreate, DnsPolicy, DnsPolicyCreate, DnsPolicyUpdate, DnsRule, DnsRuleCreate, DnsRulesQuery, DnsSite,
} from "../dns-policies.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfList = z.object({ dns_list_id: Id });
const OfVersion = OfList.extend({ dns_list_version: z.string().max(64).describe("The version's number, as `2`.") });
const OfRule = z.object({ dns_rule_id: Id });
const OfPolicy = z.object({ dns_policy_id: Id });
const OfAllowance = z.object({ dns_allowance_id: Id });
const OfSite = z.object({ site_id: Id });
const OfPause = z.object({ dns_pause_id: Id });

/** The filtering resolver: lists, rules, policies, and what is allowed for a while. */
export const dnsOperations = operations({
  listDnsLists: { target: "GET /dns/lists", query: IdPageQuery, status: 200, answer: listEnvelope(DnsList) },
  createDnsList: { target: "POST /dns/lists", body: DnsListCreate, status: 201, answer: DnsList },
  readDnsList: { target: "GET /dns/lists/{dns_list_id}", params: OfList, status: 200, answer: DnsList },
  updateDnsList: { target: "PUT /dns/lists/{dns_list_id}", params: OfList, body: DnsListUpdate, status: 200, answer: DnsList },
  deleteDnsList: { target: "DELETE /dns/lists/{dns_list_id}", params: OfList, status: 204 },
  fetchDnsList: { target: "POST /dns/lists/{dns_list_id}/update", params: OfList, status: 202, answer: DnsList },
  rollBackDnsList: { target: "POST /dns/lists/{dns_list_id}/rollback", params: OfList, status: 200, answer: DnsList },
  listDnsListVersions: { target: "GET /dns/lists/{dns_list_id}/versions", params: OfList, status: 200, answer: listEnvelope(DnsListVersion) },
  activateDnsListVersion: { target: "POST /dns/lists/{dns_list_id}/versions/{dns_list_version}/activate", params: OfVersion, status: 200, answer: DnsList },
  listDnsRules: { target: "GET /dns/rules", query: DnsRulesQuery, status: 200, answer: listEnvelope(DnsRule) },
  readDnsRule: { target: "GET /dns/rules/{dns_rule_id}", params: OfRule, status: 200, answer: DnsRule },
  createDnsRule: { target: "POST /dns/rules", body: DnsRuleCreate, status: 201, answer: DnsRule },
  deleteDnsRule: { target: "DELETE /dns/rules/{dns_rule_id}", params: OfRule, status: 204 },
  listDnsPolicies: { target: "GET /dns/policies", query: IdPageQuery, status: 200, answer: listEnvelope(DnsPolicy) },
  readDnsPolicy: { target: "GET /dns/policies/{dns_policy_id}", params: OfPolicy, status: 200, answer: DnsPolicy },
  createDnsPolicy: { target: "POST /dns/policies", body: DnsPolicyCreate, status: 201, answer: DnsPolicy },
  updateDnsPolicy: { target: "PUT /dns/policies/{dns_policy_id}", params: OfPolicy, body: DnsPolicyUpdate, status: 200, answer: DnsPolicy },
  deleteDnsPolicy: { target: "DELETE /dns/policies/{dns_policy_id}", params: OfPolicy, status: 204 },
  listDnsAllowances: { target: "GET /dns/allow", query: IdPageQuery, status: 200, answer: listEnvelope(DnsAllowance) },
  readDnsAllowance: { target: "GET /dns/allow/{dns_allowance_id}", params: OfAllowance, status: 200, answer: DnsAllowance },
  createDnsAllowance: { target: "POST /dns/allow", body: DnsAllowanceCreate, status: 201, answer: DnsAllowance },
  deleteDnsAllowance: { target: "DELETE /dns/allow/{dns_allowance_id}", params: OfAllowance, status: 204 },
  listDnsPauses: { target: "GET /dns/pause", query: IdPageQuery, status: 200, answer: listEnvelope(DnsPause) },
  readDnsPause: { target: "GET /dns/pause/{dns_pause_id}", params: OfPause, status: 200, answer: DnsPause },
  createDnsPause: { target: "POST /dns/pause", body: DnsPauseCreate, status: 201, answer: DnsPause },
  deleteDnsPause: { target: "DELETE /dns/pause/{dns_pause_id}", params: OfPause, status: 204 },
  checkDnsName: { target: "GET /dns/check", query: DnsCheckQuery, status: 200, answer: DnsCheck },
  listDnsQueries: { target: "GET /dns/queries", query: DnsQueriesQuery, status: 200, answer: listEnvelope(DnsQueryRow) },
  listDnsQuerySettings: { target: "GET /dns/queries/settings", query: IdPageQuery, status: 200, answer: listEnvelope(DnsQuerySettings) },
  readDnsQuerySettings: { target: "GET /dns/queries/settings/{site_id}", params: OfSite, status: 200, answer: DnsQuerySettings },
  updateDnsQuerySettings: { target: "PUT /dns/queries/settings/{site_id}", params: OfSite, body: DnsQuerySettingsUpdate, status: 200, answer: DnsQuerySettings },
  readDnsStats: { target: "GET /dns/stats", query: DnsStatsQuery, status: 200, answer: DnsStats },
  listDnsSites: { target: "GET /dns/sites", query: IdPageQuery, status: 200, answer: listEnvelope(DnsSite) },
});
