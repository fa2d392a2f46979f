import * as z from "zod";
import { Id } from "../../values.ts";
import { CveDatabaseInfo, CveDetails, CveFound, CveSearchQuery, CveUpdate } from "../cve.ts";
import {
  AffectedCve, AffectedCvesExportQuery, AffectedCvesQuery, CveStats, CveStatsQuery, CveSuppression, CveSuppressionCreate, CveSuppressionUpdate,
} from "../cve-matches.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfCve = z.object({ cve_id: z.string().max(64).describe("The CVE's id, as `CVE-2024-6387`.") });
const OfSuppression = z.object({ suppression_id: Id });

/** The local CVE database, and what of it concerns devices. */
export const cveOperations = operations({
  readCveDatabase: { target: "GET /cve/db-info", status: 200, answer: CveDatabaseInfo },
  startCveUpdate: { target: "POST /cve/update", status: 202, answer: CveUpdate },
  /** Known exploitation first, then EPSS, then CVSS. */
  searchCves: { target: "GET /cve/search", query: CveSearchQuery, status: 200, answer: listEnvelope(CveFound) },
  /** A line for each match, with the list's filters. */
  exportAffectedCves: { target: "GET /cve/affected/export", query: AffectedCvesExportQuery, status: 200, content: "text/csv" },
  listAffectedCves: { target: "GET /cve/affected", query: AffectedCvesQuery, status: 200, answer: listEnvelope(AffectedCve) },
  readCveStats: { target: "GET /cve/stats", query: CveStatsQuery, status: 200, answer: CveStats },
  listCveSuppressions: { target: "GET /cve/suppressions", query: IdPageQuery, status: 200, answer: listEnvelope(CveSuppression) },
  readCveSuppression: { target: "GET /cve/suppressions/{suppression_id}", params: OfSuppression, status: 200, answer: CveSuppression },
  createCveSuppression: { target: "POST /cve/suppressions", body: CveSuppressionCreate, status: 201, answer: CveSuppression },
  updateCveSuppression: { target: "PUT /cve/suppressions/{suppression_id}", params: OfSuppression, body: CveSuppressionUpdate, status: 200, answer: CveSuppression },
  deleteCveSuppression: { target: "DELETE /cve/suppressions/{suppression_id}", params: OfSuppression, status: 204 },
  readCve: { target: "GET /cve/{cve_id}", params: OfCve, status: 200, answer: CveDetails },
});
