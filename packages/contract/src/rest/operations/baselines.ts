import * as z from "zod";
import { Id } from "../../values.ts";
import {
  Baseline, BaselineAccept, BaselineAcceptance, BaselineApprove, BaselineDifference, BaselineDifferencesQuery, BaselineFact, BaselineFactsEdit,
  BaselineFactsQuery, BaselineReset, BaselineSettingsQuery, BaselinesQuery, BaselineTemplate, BaselineTemplateCreate, BaselineTemplateUpdate,
  BaselineUpdate, BaselineWindow, BaselineWindowCreate,
} from "../baselines.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfBaseline = z.object({ baseline_id: Id });
const OfDifference = z.object({ difference_id: Id });
const OfAcceptance = z.object({ acceptance_id: Id });
const OfTemplate = z.object({ template_id: Id });
const OfWindow = z.object({ window_id: Id });

/** What is normal of sites and devices, and what differs from it. Fixed names come before ids. */
export const baselinesOperations = operations({
  listBaselineDifferences: {
    target: "GET /baselines/differences", query: BaselineDifferencesQuery, status: 200, answer: listEnvelope(BaselineDifference),
  },
  readBaselineDifference: { target: "GET /baselines/differences/{difference_id}", params: OfDifference, status: 200, answer: BaselineDifference },
  acceptBaselineDifference: {
    target: "POST /baselines/differences/{difference_id}/accept", params: OfDifference, body: BaselineAccept, status: 201, answer: BaselineAcceptance,
  },
  listBaselineAcceptances: {
    target: "GET /baselines/acceptances", query: BaselineSettingsQuery, status: 200, answer: listEnvelope(BaselineAcceptance),
  },
  deleteBaselineAcceptance: { target: "DELETE /baselines/acceptances/{acceptance_id}", params: OfAcceptance, status: 204 },
  listBaselineTemplates: { target: "GET /baselines/templates", query: BaselineSettingsQuery, status: 200, answer: listEnvelope(BaselineTemplate) },
  createBaselineTemplate: { target: "POST /baselines/templates", body: BaselineTemplateCreate, status: 201, answer: BaselineTemplate },
  readBaselineTemplate: { target: "GET /baselines/templates/{template_id}", params: OfTemplate, status: 200, answer: BaselineTemplate },
  updateBaselineTemplate: {
    target: "PUT /baselines/templates/{template_id}", params: OfTemplate, body: BaselineTemplateUpdate, status: 200, answer: BaselineTemplate,
  },
  deleteBaselineTemplate: { target: "DELETE /baselines/templates/{template_id}", params: OfTemplate, status: 204 },
  listBaselineWindows: { target: "GET /baselines/windows", query: BaselineSettingsQuery, status: 200, answer: listEnvelope(BaselineWindow) },
  createBaselineWindow: { target: "POST /baselines/windows", body: BaselineWindowCreate, status: 201, answer: BaselineWindow },
  deleteBaselineWindow: { target: "DELETE /baselines/windows/{window_id}", params: OfWindow, status: 204 },
  listBaselines: { target: "GET /baselines", query: BaselinesQuery, status: 200, answer: listEnvelope(Baseline) },
  readBaseline: { target: "GET /baselines/{baseline_id}", params: OfBaseline, status: 200, answer: Baseline },
  updateBaseline: { target: "PUT /baselines/{baseline_id}", params: OfBaseline, body: BaselineUpdate, status: 200, answer: Baseline },
  listBaselineFacts: {
    target: "GET /baselines/{baseline_id}/facts", params: OfBaseline, query: BaselineFactsQuery, status: 200, answer: listEnvelope(BaselineFact),
  },
  editBaselineFacts: { target: "POST /baselines/{baseline_id}/facts", params: OfBaseline, body: BaselineFactsEdit, status: 200, answer: Baseline },
  approveBaseline: { target: "POST /baselines/{baseline_id}/approve", params: OfBaseline, body: BaselineApprove, status: 200, answer: Baseline },
  freezeBaseline: { target: "POST /baselines/{baseline_id}/freeze", params: OfBaseline, status: 200, answer: Baseline },
  unfreezeBaseline: { target: "POST /baselines/{baseline_id}/unfreeze", params: OfBaseline, status: 200, answer: Baseline },
  resetBaseline: { target: "POST /baselines/{baseline_id}/reset", params: OfBaseline, body: BaselineReset, status: 200, answer: Baseline },
});
