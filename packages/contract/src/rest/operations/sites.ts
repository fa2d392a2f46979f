import * as z from "zod";
import { Id } from "../../values.ts";
import { Site, SiteCreate, SiteSummary, SiteUpdate, SitesQuery } from "../sites.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfSite = z.object({ site_id: Id });

/** Places that probes watch. */
export const sitesOperations = operations({
  listSites: { target: "GET /sites", query: SitesQuery, status: 200, answer: listEnvelope(Site) },
  /** What is at each site, in numbers. */
  listSiteSummaries: { target: "GET /sites/summary", query: SitesQuery, status: 200, answer: listEnvelope(SiteSummary) },
  readSiteSummary: { target: "GET /sites/{site_id}/summary", params: OfSite, status: 200, answer: SiteSummary },
  readSite: { target: "GET /sites/{site_id}", params: OfSite, status: 200, answer: Site },
  createSite: { target: "POST /sites", body: SiteCreate, status: 201, answer: Site },
  updateSite: { target: "PUT /sites/{site_id}", params: OfSite, body: SiteUpdate, status: 200, answer: Site },
  deleteSite: { target: "DELETE /sites/{site_id}", params: OfSite, status: 204 },
});
