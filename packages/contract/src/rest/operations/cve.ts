import * as z from "zod";
import { CveDatabaseInfo, CveDetails, CveFound, CveSearchQuery, CveUpdate } from "../cve.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfCve = z.object({ cve_id: z.string().max(64).describe("The CVE's id, as `CVE-2024-6387`.") });

/** The local CVE database. */
export const cveOperations = operations({
  readCveDatabase: { target: "GET /cve/db-info", status: 200, answer: CveDatabaseInfo },
  startCveUpdate: { target: "POST /cve/update", status: 202, answer: CveUpdate },
  /** Known exploitation first, then EPSS, then CVSS. */
  searchCves: { target: "GET /cve/search", query: CveSearchQuery, status: 200, answer: listEnvelope(CveFound) },
  readCve: { target: "GET /cve/{cve_id}", params: OfCve, status: 200, answer: CveDetails },
});
