import { CveDatabaseInfo, CveUpdate } from "../cve.ts";
import { operations } from "../operation.ts";

/** The local CVE database. */
export const cveOperations = operations({
  readCveDatabase: { target: "GET /cve/db-info", status: 200, answer: CveDatabaseInfo },
  startCveUpdate: { target: "POST /cve/update", status: 202, answer: CveUpdate },
});
