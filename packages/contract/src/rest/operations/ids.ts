import * as z from "zod";
import { Id } from "../../values.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import {
  IdsDiffQuery, IdsOverride, IdsOverrideCreate, IdsRule, IdsRuleDetails, IdsRuleDifference, IdsRuleQuery, IdsRuleset, IdsRulesetCreate, IdsRulesetUpdate, IdsRulesetVersion,
  IdsRulesQuery,
} from "../ids.ts";
import { IdsSiteQuery, IdsStats, IdsStatsQuery, IdsSupport, IdsSuppressionCreate, IdsSuppressionRecord, IdsSuppressionsQuery } from "../ids-noise.ts";
import { IdsSiteNetworks, IdsSiteNetworksUpdate } from "../ids-networks.ts";
import { IdsTest, IdsTestResult } from "../ids-test.ts";
import { operations } from "../operation.ts";

const OfRuleset = z.object({ ruleset_id: Id });
const OfVersion = OfRuleset.extend({ ruleset_version: z.string().max(64).describe("The version's number, as `2`.") });
const OfRule = z.object({ signature_id: z.string().max(64).describe("The rule's number, as `2010935`.") });
const OfOverride = z.object({ override_id: Id });
const OfSite = z.object({ site_id: Id });
const OfSuppression = z.object({ ids_suppression_id: Id });

/** Intrusion detection: rules, what people change in them and suppress, and how much there is. */
export const idsOperations = operations({
  listIdsRulesets: { target: "GET /ids/rulesets", query: IdPageQuery, status: 200, answer: listEnvelope(IdsRuleset) },
  createIdsRuleset: { target: "POST /ids/rulesets", body: IdsRulesetCreate, status: 201, answer: IdsRuleset },
  readIdsRuleset: { target: "GET /ids/rulesets/{ruleset_id}", params: OfRuleset, status: 200, answer: IdsRuleset },
  updateIdsRuleset: { target: "PUT /ids/rulesets/{ruleset_id}", params: OfRuleset, body: IdsRulesetUpdate, status: 200, answer: IdsRuleset },
  deleteIdsRuleset: { target: "DELETE /ids/rulesets/{ruleset_id}", params: OfRuleset, status: 204 },
  fetchIdsRuleset: { target: "POST /ids/rulesets/{ruleset_id}/update", params: OfRuleset, status: 202, answer: IdsRuleset },
  rollBackIdsRuleset: { target: "POST /ids/rulesets/{ruleset_id}/rollback", params: OfRuleset, status: 200, answer: IdsRuleset },
  listIdsRulesetVersions: { target: "GET /ids/rulesets/{ruleset_id}/versions", params: OfRuleset, status: 200, answer: listEnvelope(IdsRulesetVersion) },
  diffIdsRulesetVersion: {
    target: "GET /ids/rulesets/{ruleset_id}/versions/{ruleset_version}/diff", params: OfVersion, query: IdsDiffQuery, status: 200, answer: listEnvelope(IdsRuleDifference),
  },
  activateIdsRulesetVersion: { target: "POST /ids/rulesets/{ruleset_id}/versions/{ruleset_version}/activate", params: OfVersion, status: 200, answer: IdsRuleset },
  listIdsRules: { target: "GET /ids/rules", query: IdsRulesQuery, status: 200, answer: listEnvelope(IdsRule) },
  readIdsRule: { target: "GET /ids/rules/{signature_id}", params: OfRule, query: IdsRuleQuery, status: 200, answer: IdsRuleDetails },
  listIdsOverrides: { target: "GET /ids/overrides", query: IdPageQuery, status: 200, answer: listEnvelope(IdsOverride) },
  readIdsOverride: { target: "GET /ids/overrides/{override_id}", params: OfOverride, status: 200, answer: IdsOverride },
  createIdsOverride: { target: "POST /ids/overrides", body: IdsOverrideCreate, status: 201, answer: IdsOverride },
  deleteIdsOverride: { target: "DELETE /ids/overrides/{override_id}", params: OfOverride, status: 204 },
  listIdsSuppressions: { target: "GET /ids/suppressions", query: IdsSuppressionsQuery, status: 200, answer: listEnvelope(IdsSuppressionRecord) },
  readIdsSuppression: { target: "GET /ids/suppressions/{ids_suppression_id}", params: OfSuppression, status: 200, answer: IdsSuppressionRecord },
  createIdsSuppression: { target: "POST /ids/suppressions", body: IdsSuppressionCreate, status: 201, answer: IdsSuppressionRecord },
  deleteIdsSuppression: { target: "DELETE /ids/suppressions/{ids_suppression_id}", params: OfSuppression, status: 204 },
  readIdsSupport: { target: "GET /ids/support", query: IdsSiteQuery, status: 200, answer: IdsSupport },
  readIdsSiteNetworks: { target: "GET /ids/networks/{site_id}", params: OfSite, status: 200, answer: IdsSiteNetworks },
  updateIdsSiteNetworks: { target: "PUT /ids/networks/{site_id}", params: OfSite, body: IdsSiteNetworksUpdate, status: 200, answer: IdsSiteNetworks },
  testIdsRule: { target: "POST /ids/test", body: IdsTest, status: 200, answer: IdsTestResult },
  readIdsStats: { target: "GET /ids/stats", query: IdsStatsQuery, status: 200, answer: IdsStats },
});
