import * as z from "zod";
import { Id } from "../../values.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { SiteCoverage } from "../coverage.ts";
import { GuardExceptionCreate, GuardExceptionRecord, GuardsLearnAnswer, SiteGuards, SiteGuardsUpdate } from "../guards.ts";
import { operations } from "../operation.ts";

const OfSite = z.object({ site_id: Id });
const OfException = OfSite.extend({ exception_id: Id });

/** What a site's probes watch for attacks by. */
export const guardsOperations = operations({
  readSiteGuards: { target: "GET /sites/{site_id}/guards", params: OfSite, status: 200, answer: SiteGuards },
  updateSiteGuards: { target: "PUT /sites/{site_id}/guards", params: OfSite, body: SiteGuardsUpdate, status: 200, answer: SiteGuards },
  readSiteCoverage: { target: "GET /sites/{site_id}/coverage", params: OfSite, status: 200, answer: SiteCoverage },
  learnSiteGuards: { target: "POST /sites/{site_id}/guards/learn", params: OfSite, status: 202, answer: GuardsLearnAnswer },
  listGuardExceptions: {
    target: "GET /sites/{site_id}/guards/exceptions", params: OfSite, query: IdPageQuery, status: 200, answer: listEnvelope(GuardExceptionRecord),
  },
  readGuardException: {
    target: "GET /sites/{site_id}/guards/exceptions/{exception_id}", params: OfException, status: 200, answer: GuardExceptionRecord,
  },
  createGuardException: {
    target: "POST /sites/{site_id}/guards/exceptions", params: OfSite, body: GuardExceptionCreate, status: 201, answer: GuardExceptionRecord,
  },
  deleteGuardException: { target: "DELETE /sites/{site_id}/guards/exceptions/{exception_id}", params: OfException, status: 204 },
});
